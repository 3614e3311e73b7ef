/** The steps for setting up any hosted carrier. */
import type { SetupHost, SetupStep } from "#core/provider/Setup.ts"

/** A field that may be left out, but without which no call can be placed. */
export const fieldStep = (key: string, title: string, description: string, isComplete: boolean): SetupStep => ({
  blocksOutbound: true,
  description,
  isComplete,
  key,
  title
})

/** The field with the key that proves callbacks, if it may be left out. */
export const callbackKeyStep = (field: string, title: string, isComplete: boolean): SetupStep =>
  fieldStep(field, title, `\`${field}\` is needed, because callbacks are not believed without it`, isComplete)

/** Calls are reported, and audio is fetched, at the engine's public address. `refuses`: why the carrier does not accept the address. */
export const publicAddressStep = (
  displayName: string,
  { publicUrl }: SetupHost,
  refuses: (url: URL) => string | undefined = () => undefined
): SetupStep => {
  const why = publicUrl === undefined ? undefined : refuses(new URL(publicUrl))
  return {
    blocksOutbound: true,
    description:
      why === undefined
        ? `${displayName} reports calls to the engine's public address: set PUBLIC_URL`
        : `${displayName} takes no such public address: ${why}`,
    isComplete: publicUrl !== undefined && why === undefined,
    key: "public_url",
    title: "Public address"
  }
}

/** An address that a person enters at the carrier; calls can be placed without it. */
export const enteredStep = (key: string, title: string, where: string, address: string | undefined): ReadonlyArray<SetupStep> =>
  address === undefined ? [] : [{ blocksOutbound: false, description: `${where}: ${address}`, isComplete: true, key, title }]
