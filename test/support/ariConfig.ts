/** The configuration of a trunk through an Asterisk, real or emulated. `endpoint` is its address, if that is a proxy in front of it. */
export const ariConfig = (
  asterisk: { readonly url: string; readonly user: string; readonly password: string },
  { endpoint = asterisk.url, trunk = "trunk" }: { readonly endpoint?: string; readonly trunk?: string } = {}
) => ({
  ari_endpoint: endpoint,
  app_name: asterisk.user,
  app_password: asterisk.password,
  ws_client_name: "",
  from_numbers: [],
  dial_string: `PJSIP/{number}@${trunk}`
})
