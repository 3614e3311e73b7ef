/** The contacts of a campaign, read in parts while somebody scrolls, and read again while they are in sight. */
import { type Signal, useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import { ask, reasonOf } from "#gateway/console/base/api.ts"
import { onEvent } from "#gateway/console/base/follow.ts"
import { Paced } from "#gateway/console/base/Paced.ts"
import { pageSeen } from "#gateway/console/base/pageSeen.ts"
import type { Contacts, Happened } from "#gateway/console/base/types.ts"

export type Contact = Contacts["contacts"][number]

const PART = 500

interface ContactPages {
  readonly rows: Signal<ReadonlyArray<Contact>>
  readonly error: Signal<string | undefined>
  /** Whether there is nothing behind the rows. */
  readonly isAll: Signal<boolean>
  readonly onSight: (from: number, until: number) => void
  readonly renew: () => void
}

/** `path`: with its filters. */
export const useContactPages = (path: string, isAbout: (event: Happened) => boolean): ContactPages => {
  const rows = useSignal<ReadonlyArray<Contact>>([])
  const error = useSignal<string | undefined>(undefined)
  const isAll = useSignal(false)
  const sight = useRef({ from: 0, until: 1 })
  const paced = useRef<Paced>(undefined)
  useEffect(() => {
    const parts: Array<ReadonlyArray<Contact>> = []
    rows.value = []
    isAll.value = false
    const readPart = async (at: number, isOver: () => boolean) => {
      const last = parts[at - 1]?.at(-1)?.row_number
      const { contacts } = await ask<Contacts>("GET", `${path}&limit=${PART}${last === undefined ? "" : `&after=${last}`}`)
      if (isOver()) return
      // What follows is still right if the part ends where it did.
      if (parts[at]?.at(-1)?.row_number !== contacts.at(-1)?.row_number) parts.length = at
      parts[at] = contacts
      rows.value = parts.flat()
      if (parts.length === at + 1) isAll.value = contacts.length < PART
    }
    const own = new Paced(async (isOver) => {
      const { from, until } = sight.current
      try {
        for (let at = Math.floor(from / PART); at <= Math.floor(until / PART) && at <= parts.length && !isOver(); at++)
          if (at < parts.length || !isAll.peek()) await readPart(at, isOver)
        error.value = undefined
      } catch (cause) {
        if (!isOver()) error.value = reasonOf(cause)
      }
    }, pageSeen)
    paced.current = own
    own.want()
    const stop = onEvent((event) => {
      if (event === undefined || isAbout(event)) own.want()
    })
    return () => {
      stop()
      own.end()
    }
  }, [path])
  const onSight = (from: number, until: number) => {
    const known = rows.peek().length
    sight.current = { from, until: until + PART / 2 }
    if (sight.current.until >= known && !isAll.peek()) paced.current?.wantNow()
  }
  return { rows, error, isAll, onSight, renew: () => paced.current?.wantNow() }
}
