/** Says in one paragraph, for the person at the screen, why the demo cannot continue. */
export class DemoFailed extends Error {
  override readonly name = "DemoFailed"
}
