/** The borders: carriers, clients, other organizations, the callee, and the servers that the engine sends to. One rule each. */
import { named } from "./Sabotage.ts"

export const border = named({
  // Carriers.
  "A callback address that the engine did not create is refused.": {
    file: "runtime/trunk/CallbackAddresses.ts",
    text: "one.length === other.length && timingSafeEqual(one, other)",
    replacement: "one.length === other.length",
    caughtBy: "test/runtime/callbackAddresses.test.ts"
  },
  "A callback that Twilio has not signed is refused.": {
    file: "adapters/twilio/signature.ts",
    text: "return isSigned ? {",
    replacement: "return given.length > 0 ? {",
    caughtBy: "test/adapters/signatures.test.ts"
  },
  "A webhook that Telnyx signed more than five minutes ago is refused.": {
    file: "adapters/telnyx/signature.ts",
    text: " || !isRecent(request, Number(timestamp))",
    replacement: "",
    caughtBy: "test/adapters/signatures.test.ts"
  },
  "However a carrier cuts the callee's audio, no frame of it is lost.": {
    file: "adapters/shared/MediaEar.ts",
    text: "this.#filled += part.length",
    replacement: "this.#filled = part.length",
    caughtBy: "test/adapters/vonageMedia.test.ts"
  },
  "That a simulated phone is gone does not prove that nobody was called.": {
    file: "adapters/simulated/SimulatedTrunk.ts",
    text: 'phone === undefined ? "gone"',
    replacement: 'phone === undefined ? "never_placed"',
    caughtBy: "test/adapters/simulated.test.ts"
  },

  // Browsers.
  "A run of a call from a browser is called once.": {
    file: "core/call/BrowserBeginning.ts",
    text: "AND attempt_id IS NULL AND NOT is_completed",
    replacement: "AND NOT is_completed",
    caughtBy: "test/store/browserRuns.test.ts"
  },
  "No name that a page has made up is looked up.": {
    file: "core/call/BrowserOffer.ts",
    text: " && canonicalAddress(address) !== undefined",
    replacement: "",
    caughtBy: "test/core/browserOffer.test.ts"
  },
  "Credentials of a TURN server are what the server computes from the secret.": {
    file: "runtime/browser/iceServers.ts",
    text: 'createHmac("sha1"',
    replacement: 'createHmac("sha256"',
    caughtBy: "test/runtime/iceServers.test.ts"
  },

  // Other organizations.
  "Webhook endpoints are told of their own organization's events, and of no other's.": {
    file: "core/event/EventStore.ts",
    text: "JOIN webhook_endpoints e ON e.organization_id = s.organization_id",
    replacement: "CROSS JOIN webhook_endpoints e",
    caughtBy: "test/store/sequencedEvents.test.ts"
  },
  "A request works for its caller's organization, so that row-level security confines it.": {
    file: "gateway/request/withinTenant.ts",
    text: "reply.pipe(Effect.provideService(CurrentTenant, organizationId), Effect.provideService(CurrentRole, caller.role))",
    replacement: "reply.pipe(Effect.provideService(CurrentRole, caller.role))",
    caughtBy: "test/gateway/confinedRequests.test.ts"
  },

  "An organization sees none but its own calls on the engines.": {
    file: "core/node/Engines.ts",
    text: "FROM attempts WHERE organization_id =",
    replacement: "FROM attempts WHERE 0 <",
    caughtBy: "test/gateway/engines.test.ts"
  },

  // Lists of contacts.
  "A list that is refused has no contact at its creation, although a check shows those of its other rows.": {
    file: "core/contact/ContactCsv.ts",
    text: "|| (this.refused && this.onFault === undefined)",
    replacement: "",
    caughtBy: "test/core/contactCsv.test.ts"
  },
  "A check tells of a repeated number.": {
    file: "core/contact/ListCheck.ts",
    text: "if (fault.repeats !== undefined) this",
    replacement: "if (this.faults.length === 0 && fault.repeats !== undefined) this",
    caughtBy: "test/store/listCheck.test.ts"
  },
  "What a workbook holds once it is decompressed has a limit.": {
    file: "runtime/storage/Zip.ts",
    text: "if (this.bytesLeft < 0) throw",
    replacement: "if (Number.isNaN(this.bytesLeft)) throw",
    caughtBy: "test/runtime/workbooks.test.ts"
  },
  "A workbook that was damaged on its way dials no other number.": {
    file: "runtime/storage/Zip.ts",
    text: "if (crc !== entry.crc) throw",
    replacement: "if (Number.isNaN(crc)) throw",
    caughtBy: "test/runtime/workbooks.test.ts"
  },
  "Nobody is dialed from a hidden sheet.": {
    file: "runtime/storage/Workbook.ts",
    text: '(attribute("state") ?? "visible") === "visible"',
    replacement: 'attribute("state") !== "gone"',
    caughtBy: "test/runtime/workbooks.test.ts"
  },

  // What an operator sees of a campaign.
  "A contact waits for a slot once as many calls are up as may be.": {
    file: "core/campaign/WaitingFor.ts",
    text: "up >= limit",
    replacement: "up > limit",
    caughtBy: "test/core/waitingFor.test.ts"
  },
  "Of two waits of a contact, the one that ends last is shown.": {
    file: "core/campaign/WaitingFor.ts",
    text: "due > now && due > opensAt",
    replacement: "due > now",
    caughtBy: "test/core/waitingFor.test.ts"
  },
  "Retries that fall due later are not shown as due.": {
    file: "core/campaign/CampaignOutcomeStore.ts",
    text: "({ at }) => at < soon",
    replacement: "({ at }) => at < until",
    caughtBy: "test/store/campaignOutcomes.test.ts"
  },

  // Clients.
  "An API key with scopes may do nothing outside of them.": {
    file: "gateway/request/authorize.ts",
    text: "  if (!hasScope(caller, scope)) return new ScopeMissing({ scope })\n",
    replacement: "",
    caughtBy: "test/security/sessions.test.ts"
  },
  "An archived API key identifies nobody.": {
    file: "core/organization/Standing.ts",
    text: "a.archived_at IS NOT NULL OR ",
    replacement: "",
    caughtBy: "test/store/services.test.ts"
  },
  "A key is good for no longer than the key that it was created with.": {
    file: "core/organization/Standing.ts",
    text: "SELECT 1 FROM api_keys a WHERE a.id = ANY (",
    replacement: "SELECT 1 FROM api_keys a WHERE NOT a.ancestors = ANY (ARRAY[]::int[]) AND a.id = ANY (",
    caughtBy: "test/security/standing.test.ts"
  },
  "A session begins only with the password that was checked, if it has not changed since.": {
    file: "core/organization/SessionStore.ts",
    text: " AND password_hash = ",
    replacement: " AND password_hash IS NOT NULL OR password_hash = ",
    caughtBy: "test/security/standing.test.ts"
  },
  "Whoever guesses passwords has to wait.": {
    file: "core/organization/LoginLimit.ts",
    text: "if (wait > 0) return Effect.fail",
    replacement: "if (wait < 0) return Effect.fail",
    caughtBy: "test/core/loginLimit.test.ts"
  },

  // Secrets.
  "Clients see the secrets of a telephony configuration masked.": {
    file: "core/provider/Credential.ts",
    text: 'field.sensitive && typeof value === "string" ? mask(value) : value]',
    replacement: "value]",
    caughtBy: "test/gateway/maskedSecrets.test.ts"
  },
  "What is logged about a call does not contain the number of its callee.": {
    file: "runtime/call/CallSupervisor.ts",
    text: "const begun = Effect.annotateLogs(FiberSet.run(node.fibers, life), {",
    replacement: "const begun = Effect.annotateLogs(FiberSet.run(node.fibers, life), { to: call.dialing?.phoneNumber,",
    caughtBy: "test/runtime/refusedCalls.test.ts"
  },

  // Requests.
  "A body that is larger than its route allows is refused, even if its length was not declared.": {
    file: "gateway/http/server.ts",
    text: "if (received > endpoint.bodyLimit) return this.answers.send(exchange, tooLarge(endpoint.bodyLimit))",
    replacement: "",
    caughtBy: "test/gateway/server.test.ts"
  },
  "A request that is repeated with its idempotency key has the first one's answer, and no other effect.": {
    file: "gateway/request/idempotency.ts",
    text: 'if (taken._tag !== "Ours") return',
    replacement: 'if (taken._tag === "OtherRequest") return',
    caughtBy: "test/gateway/calls.test.ts"
  },

  // Files.
  "A link to a stored file works until it expires, and no longer.": {
    file: "gateway/file/FileLinks.ts",
    text: "isOurs && link.expires * 1000 > now",
    replacement: "isOurs",
    caughtBy: "test/gateway/files.test.ts"
  },
  "A recording is deleted once it is older than its organization wants.": {
    file: "runtime/Housekeeping.ts",
    text: "Effect.map(removesAll(files, filesOfRecording(key)), (areGone) => !areGone)",
    replacement: "Effect.succeed(false)",
    caughtBy: "test/security/retention.test.ts"
  },
  "If an organization keeps no transcripts, its calls make none.": {
    file: "runtime/call/planCall.ts",
    text: "keepsTranscript: kept.transcripts",
    replacement: "keepsTranscript: true",
    caughtBy: "test/runtime/callConversation.test.ts"
  },

  // The callee.
  "An agent that cannot hear asks no model.": {
    file: "core/agent/conversation/Asking.ts",
    text: "if (!scene.plan.canHear) return step",
    replacement: "if (scene.plan.canHear && !scene.plan.canHear) return step",
    caughtBy: "test/core/deafAgents.test.ts"
  },
  "A machine that is detected before a fetch is done is not greeted.": {
    file: "core/agent/conversation/Conversation.ts",
    text: 'if (known.state.verdict === "machine")',
    replacement: 'if (known.state.verdict === "menu")',
    caughtBy: "test/core/conversationWork.test.ts"
  },
  "What a recognizer had not transcribed when it failed is given to the next one.": {
    file: "runtime/voice/Hearing.ts",
    text: "      this.#writeTo(session, samples, isSpeech)\n    })",
    replacement: "    })",
    caughtBy: "test/runtime/hearing.test.ts"
  },
  "Where another voice fails before its first sound, the engine's own speaks.": {
    file: "runtime/voice/CallVoice.ts",
    text: "return isBegun\n",
    replacement: "return !isBegun\n",
    caughtBy: "test/runtime/spareVoice.test.ts"
  },
  "The agent falls silent when the callee says something while it speaks.": {
    file: "core/voice/BargeIn.ts",
    text: '!isAssent(words))) return only(silent, "Interrupt")',
    replacement: "!isAssent(words))) return only(state)",
    caughtBy: "test/core/bargeIn.test.ts"
  },
  "Of a sentence that the callee interrupted, only words that were played to their end count as heard.": {
    file: "runtime/voice/HeardText.ts",
    text: "word.bytes <= played",
    replacement: "word.bytes <= 2 * played",
    caughtBy: "test/runtime/heardWords.test.ts"
  },
  "A value that is not of its variable's type is refused.": {
    file: "core/agent/conversation/Extraction.ts",
    text: 'return typeof number === "number" && Number.isFinite(number) ? number : undefined',
    replacement: "return Number(number)",
    caughtBy: "test/core/conversationParts.test.ts"
  },

  // Servers that the engine sends to.
  "Nothing is sent to a link-local address, where clouds have their metadata.": {
    file: "runtime/egress/reach.ts",
    text: '"169.254.0.0/16",',
    replacement: "",
    caughtBy: "test/security/egressPolicy.test.ts"
  },
  "A webhook that its endpoint has accepted is not sent again.": {
    file: "runtime/webhook/WebhookDelivery.ts",
    text: "status >= 200 && status < 300",
    replacement: "status === 200",
    caughtBy: "test/runtime/webhookDelivery.test.ts"
  },
  // Language models.
  "An answer that has begun is not asked for again.": {
    file: "core/model/ModelRetries.ts",
    text: "if (hasBegun) return Stream.fail(error)",
    replacement: "",
    caughtBy: "test/core/modelRetries.test.ts"
  },
  "Thoughts come back with the calls that follow from them.": {
    file: "adapters/voice/anthropic/MessagesRequest.ts",
    text: "return hasThoughts && Array.isArray(thoughts) ? thoughts : []",
    replacement: "return []",
    caughtBy: "test/adapters/anthropic.test.ts"
  },
  "Gemini's key is not in the address.": {
    file: "adapters/voice/google/askGemini.ts",
    text: 'headers: { "x-goog-api-key": apiKey },',
    replacement: "headers: {},",
    caughtBy: "test/adapters/google.test.ts"
  },
  "An error of Gemini's repeats nothing of what was sent.": {
    file: "adapters/voice/google/askGemini.ts",
    text: "/^[A-Z_]{1,40}$/.test(finish) ?",
    replacement: "finish !== '' ?",
    caughtBy: "test/adapters/google.test.ts"
  },

  // Recognizers.
  "What a recognizer says unasked, or too late, is not another answer to finalize.": {
    file: "adapters/voice/shared/OwedAnswers.ts",
    text: "if (this.#owed === 0) return false",
    replacement: "if (this.#owed === 0) return true",
    caughtBy: "test/adapters/hostedRecognizers.test.ts"
  },
  "An error of a recognizer repeats no code that is part of the key.": {
    file: "adapters/voice/cartesia/ink.ts",
    text: '{ code: textAt(message, "error_code") }, secret)',
    replacement: '{ code: textAt(message, "error_code") }, "")',
    caughtBy: "test/adapters/hostedRecognizers.test.ts"
  },
  "A turn keeps what was said in it if its end comes without words.": {
    file: "adapters/voice/cartesia/InkTurns.ts",
    text: '(this.#text ?? "") : text',
    replacement: '"" : text',
    caughtBy: "test/adapters/hostedRecognizers.test.ts"
  },
  "Texts come in the order in which they were asked for.": {
    file: "adapters/voice/shared/OrderedAnswers.ts",
    text: "owed.answer = answer\n      this.#tell()",
    replacement: "this.#emit(answer)",
    caughtBy: "test/adapters/openaiRecognizers.test.ts"
  },
  "What Whisper invents for silence is not taken for what the callee says.": {
    file: "adapters/voice/openai/inventions.ts",
    text: "isInvented || isPrompt ?",
    replacement: "isPrompt ?",
    caughtBy: "test/adapters/openaiRecognizers.test.ts"
  },
  "A service is not asked what is said in mere noise.": {
    file: "adapters/voice/shared/SpokenPassage.ts",
    text: "    if (isSpeech) {",
    replacement: "    if (isSpeech || this.#gate.push(levelOf(samples))) {",
    caughtBy: "test/adapters/openaiRecognizers.test.ts"
  },
  // Other engines.
  "A change whose engine was lost is not made again.": {
    file: "runtime/nodes/PassedRequests.ts",
    text: "Effect.as(told(request, why), lost)",
    replacement: "Effect.as(told(request, why), undefined)",
    caughtBy: "test/runtime/passedRequests.test.ts"
  },
  "What another engine says of a client holds for one request.": {
    file: "runtime/nodes/PassedRequests.ts",
    text: "id: requestId, of: ",
    replacement: 'id: "client", of: ',
    caughtBy: "test/runtime/passedRequests.test.ts"
  },
  "Only the engine that decides changes anything.": {
    file: "gateway/http/passing.ts",
    text: '(by === "every" && deciding.mayRead())',
    replacement: "deciding.mayRead()",
    caughtBy: "test/gateway/passing.test.ts"
  },

  // Recognizers that are opened while phones ring.
  "The answered call takes over the session that was opened for it.": {
    file: "runtime/voice/EarlySession.ts",
    text: "this.#isWaiting ? this.#present : undefined",
    replacement: "undefined",
    caughtBy: "test/runtime/earlyHearing.test.ts"
  },
  "A session that was opened for a callee who does not answer is closed at once.": {
    file: "runtime/call/CallActor.ts",
    text: "if (call.session === undefined) call.listening?.interruptUnsafe()",
    replacement: "",
    caughtBy: "test/runtime/callActor.test.ts"
  },
  "Phones that ring make room at a service for callees who have answered.": {
    file: "runtime/voice/EarlyHearing.ts",
    text: "session.giveUp()",
    replacement: "session === undefined",
    caughtBy: "test/runtime/earlyHearing.test.ts"
  },

  // Callees who go on.
  "What has been understood is not transcribed again.": {
    file: "adapters/shared/SentenceMemory.ts",
    text: "understood = taken",
    replacement: "understood = undefined",
    caughtBy: "test/adapters/sentenceMemory.test.ts"
  },
  "What a short pause has cut in two is understood as a whole.": {
    file: "adapters/shared/SentenceMemory.ts",
    text: "const whole = told === undefined ? undefined : joined(told, rest)",
    replacement: "const whole = told === taken ? joined(taken, rest) : undefined",
    caughtBy: "test/adapters/sentenceMemory.test.ts"
  },
  "What has been answered is not part of the next turn.": {
    file: "runtime/voice/TurnTaking.ts",
    text: "if (isOver) this.#options.recognizer.settle?.()",
    replacement: "",
    caughtBy: "test/runtime/turnTaking.test.ts"
  }
})
