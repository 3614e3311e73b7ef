/** A field to search by: what is typed counts once nothing has been typed for a moment. */
import { useRef } from "preact/hooks"

const PAUSE_MILLIS = 200

export const Search = ({ label, onSearch }: { readonly label: string; readonly onSearch: (text: string) => void }) => {
  const waiting = useRef<ReturnType<typeof setTimeout>>(undefined)
  return (
    <input
      type="search"
      aria-label={label}
      placeholder={label}
      title="/"
      onInput={(event) => {
        const { value } = event.currentTarget
        clearTimeout(waiting.current)
        waiting.current = setTimeout(() => onSearch(value.trim()), PAUSE_MILLIS)
      }}
    />
  )
}
