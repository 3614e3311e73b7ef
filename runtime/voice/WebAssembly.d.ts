/** The part of WebAssembly that the engine uses. The types are in TypeScript's DOM library, which would also declare `window` and the rest. */
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array)
  }
  class Instance {
    constructor(module: Module, imports: Record<string, Record<string, (...args: never) => number>>)
    readonly exports: Readonly<Record<string, unknown>>
  }
  interface Memory {
    readonly buffer: ArrayBuffer
    readonly grow: (pages: number) => number
  }
}
