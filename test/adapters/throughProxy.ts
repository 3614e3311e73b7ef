/** A line to an emulated Asterisk, with a proxy in between. */
import ari from "#adapters/ari/ari.ts"
import { type AriEmulator, type AriEmulatorOptions, startAriEmulator } from "#test/emulators/ari/AriEmulator.ts"
import { HttpProxy } from "#test/support/HttpProxy.ts"
import { Line } from "./Line.ts"
import { ariConfig } from "#test/support/ariConfig.ts"

export interface Proxied {
  readonly emulator: AriEmulator
  readonly line: Line
  readonly proxy: HttpProxy
}

/** Everything is closed when the test is over, whatever its result. */
export const throughProxy = async (options: AriEmulatorOptions, test: (scene: Proxied) => Promise<void>): Promise<void> => {
  const emulator = await startAriEmulator(options)
  const proxy = await HttpProxy.start(emulator.url)
  const line = await Line.up(ari, ariConfig(emulator, { endpoint: proxy.url }))
  await test({ emulator, line, proxy }).finally(async () => {
    await line.close()
    await proxy.stop()
    await emulator.stop()
  })
}
