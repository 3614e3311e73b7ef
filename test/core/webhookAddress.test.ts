import t from "tap"
import { whyRefused } from "#core/webhook/WebhookEndpoint.ts"
import { webhooksOf } from "#test/support/egress.ts"

t.test("given the address of a webhook endpoint", async (t) => {
  const refused = [
    "",
    ..."nowhere ftp://example.com/ file:///etc/passwd https://user@example.com/ https://:secret@example.com/".split(" "),
    ..."https://example.com/#part http://localhost/ http://LOCALHOST./ http://a.localhost/ http://printer.local/".split(" "),
    ..."http://metadata.google.internal/ http://127.0.0.1/ http://2130706433/ http://0x7f.1/ http://0177.0.0.1/ http://[::1]/".split(" "),
    ..."http://[::ffff:7f00:1]/ http://10.0.0.1:8080/ http://169.254.169.254/latest http://0/".split(" ")
  ]
  t.test("when it is invalid or leads into a private network, then it is refused", async (t) => {
    for (const url of refused) t.type(whyRefused(url, webhooksOf()), "string", url)
  })
  t.test("when it leads outside, then it is accepted", async (t) => {
    for (const url of [
      "https://example.com/hook?a=1",
      "http://93.184.215.14:8080/",
      "https://[2606:4700::1111]/",
      "https://localhost.example.com/"
    ]) {
      t.equal(whyRefused(url, webhooksOf()), undefined, url)
    }
  })
  t.test("when private targets are on, then private networks are allowed too, and nothing else", async (t) => {
    t.equal(whyRefused("http://127.0.0.1:9/", webhooksOf({ privateWebhooks: true })), undefined)
    t.type(whyRefused("ftp://127.0.0.1/", webhooksOf({ privateWebhooks: true })), "string")
  })
})
