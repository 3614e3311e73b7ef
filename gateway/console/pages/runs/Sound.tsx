/** The recording of a call: both sides as waves, above each other. */
import { type Signal, useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import { reasonOf } from "#gateway/console/base/api.ts"
import { colorAt } from "#gateway/console/base/color.ts"
import { Fault } from "#gateway/console/base/Parts.tsx"
import { lasting } from "#gateway/console/base/words.ts"

const size = { width: 1100, height: 120 }

/** The loudest sample of each column of the picture, from 0 to 1. */
const peaksOf = (samples: Float32Array): ReadonlyArray<number> => {
  const each = Math.max(1, Math.floor(samples.length / size.width))
  return Array.from({ length: size.width }, (_, column) => {
    let most = 0
    for (let at = column * each; at < (column + 1) * each; at++) most = Math.max(most, Math.abs(samples[at] ?? 0))
    return most
  })
}

interface Waves {
  readonly seconds: number
  /** Callee, agent. */
  readonly sides: ReadonlyArray<ReadonlyArray<number>>
}

const decode = async (bytes: ArrayBuffer): Promise<Waves> => {
  const sound = await new OfflineAudioContext(2, 1, 8000).decodeAudioData(bytes)
  const sides = Array.from({ length: sound.numberOfChannels }, (_, channel) => peaksOf(sound.getChannelData(channel)))
  return { seconds: sound.duration, sides }
}

const draw = (canvas: HTMLCanvasElement, { seconds, sides }: Waves, heard: number): void => {
  const pen = canvas.getContext("2d")
  if (pen === null) return
  const [played, ahead] = [colorAt(canvas, "--accent"), colorAt(canvas, "--faint")]
  const height = size.height / Math.max(1, sides.length)
  pen.clearRect(0, 0, size.width, size.height)
  sides.forEach((side, index) => {
    side.forEach((peak, column) => {
      pen.fillStyle = column / size.width <= heard / seconds ? played : ahead
      const tall = Math.max(1, peak * height)
      pen.fillRect(column, index * height + (height - tall) / 2, 1, tall)
    })
  })
}

interface SoundProps {
  /** Its address in the API. */
  readonly address: string
  /** Where it is played, in seconds; set it to go there. */
  readonly position: Signal<number>
  readonly onLength: (seconds: number) => void
}

export const Sound = ({ address, onLength, position }: SoundProps) => {
  const canvas = useRef<HTMLCanvasElement>(null)
  const player = useRef<HTMLAudioElement>(null)
  const waves = useSignal<Waves | undefined>(undefined)
  const fault = useSignal<string | undefined>(undefined)
  useEffect(() => {
    const load = async () => {
      const response = await fetch(address)
      if (!response.ok) throw new Error("The recording is not there any more, or its store does not answer")
      const decoded = await decode(await response.arrayBuffer())
      waves.value = decoded
      onLength(decoded.seconds)
    }
    load().catch((cause) => {
      fault.value = reasonOf(cause)
    })
  }, [address])
  const { value } = waves
  useEffect(() => {
    if (canvas.current !== null && value !== undefined) draw(canvas.current, value, position.value)
  }, [value, position.value])
  useEffect(() => {
    const { current } = player
    // What the player itself has told needs no going there.
    if (current !== null && Math.abs(current.currentTime - position.value) > 0.5) current.currentTime = position.value
  }, [position.value])
  return (
    <>
      {fault.value === undefined ? null : <Fault>{fault.value}</Fault>}
      <canvas
        ref={canvas}
        class="waves"
        width={size.width}
        height={size.height}
        role="img"
        aria-label={value === undefined ? "The recording is being read" : `Callee above, agent below, ${lasting(value.seconds)}`}
        onClick={({ currentTarget, offsetX }) => {
          if (value !== undefined) position.value = (offsetX / currentTarget.clientWidth) * value.seconds
        }}
      />
      <audio
        ref={player}
        controls
        src={address}
        onTimeUpdate={({ currentTarget }) => {
          position.value = currentTarget.currentTime
        }}
      />
    </>
  )
}
