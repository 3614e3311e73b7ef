/** What keeps the demo from going on, in one paragraph for whoever looks at the screen. */
export class DemoFailed extends Error {
  override readonly name = "DemoFailed"
}
