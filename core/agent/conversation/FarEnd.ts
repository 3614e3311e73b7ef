/**
 * Whether it is a person who speaks at the far end, as far as English words tell. Only unmistakable wordings of machines count, and only until a
 * person has been heard: a secretary offers to take a message as well. Hanging up on a person is worse than talking to a mailbox.
 */
import { notUnderstood } from "#core/model/SpeechToText.ts"
import { plain } from "./Heard.ts"

type FarEnd = "screening" | "machine" | "menu"

/**
 * What has shown that a person is there. `name`: words as short as a name, with which a mailbox may begin as well: after them, only what nobody but
 * a mailbox says counts. A mere "hello?" shows nothing, because services that screen calls say it too.
 */
export type PersonHeard = "name" | "talk"

interface HeardBefore {
  readonly person: PersonHeard | undefined
  /** A service has asked who is calling, and has not put the call through yet. */
  readonly isScreened: boolean
}

const screenings = [
  /\b(?:state|say|record|tell me|give) your name and (?:the |your )?(?:reason|purpose|why)/,
  /\b(?:say|state|tell me|know) (?:who (?:you are|is calling|youre) and )?why (?:you are|youre) calling\b/,
  /\b(?:screening (?:service|assistant)|screening (?:this|the|your) call|call screening)\b/,
  /\bsee if (?:this|the) person is available\b/
]
/** A person who answers says this as well. */
const holds = [/\b(?:stay on the line|thank you please (?:hold|wait))\b/]
/** What nobody but a mailbox says, and what people might say as well. */
const mailboxes = [
  /\b(?:after|at|wait for) the (?:tone|beep)\b/,
  /\b(?:youve|you have) reached the (?:voice ?mail|mailbox|answering machine)\b/,
  /\b(?:forwarded|transferred) to (?:an automated )?(?:voice|answering|voice messaging)/,
  /\bmailbox (?:is full|has not been set up)\b/
]
const machines = [
  /\b(?:person|party|customer|subscriber) you (?:are|were)? ?(?:calling|trying to reach|dialed|have dialed)\b.* (?:not available|unavailable|cannot|busy)/,
  /\bleave (?:a|your|me a|us a) (?:brief |short |detailed )?(?:message|name and number)\b/
]
const menus = [/\bpress (?:\d|one|two|three|four|five|six|seven|eight|nine|zero|star|pound)\b/]

/** What only a person offers. In "as soon as I can I call you", the verb before "I" does not ask; nor does "if you want us to call you". */
const offers = [
  /\b(?:do|dont|did|would|wouldnt) (?:you|ya) (?:want|like|wish|care|need|mind|prefer|rather|have|know|mean)\b/,
  /(?<!\b(?:i|we) )\b(?:can|could|may|might|shall|should|will) (?:i|we|he|she|they) (?:please )?(?:take|help|ask|get|have|give|tell|pass|put|know|say|call|leave|write|note|see|speak|do|be)\b/,
  /(?<!\b(?:if|when) you (?:would |d )?|\bif youd )\b(?:want|like) (?:me|us|him|her|them) to\b/
]
/** What else is asked of the caller: machines give orders, of which "would you please leave a message" is one. */
const questions = [
  ...offers,
  /\b(?:can|could|will|would) you (?:please )?(?:call|try|hold|wait|tell|give|spell|say|repeat|speak|hear|ring|come|hang|let)\b/,
  /\b(?:whos|who is|who are|whats|what is|where are|why are|what do|how can|how may|what can|how are)\b/
]

const greetings = new Set("hello hi hey yes yeah yep yo good morning afternoon evening day there speaking".split(" "))
/** How a mailbox begins before it says what it is. */
const introductions = [
  /\b(?:youve|you have) reached\b/,
  /\b(?:i|we) (?:cant|cannot|could not|couldnt|am unable|are unable|am not able|are not able)\b.*\b(?:phone|call)\b/,
  /\b(?:im|i am|were|we are) (?:currently |either )?(?:not (?:here|available|in|home)|away|unable|out)\b/,
  /\b(?:missed your call|(?:thanks|thank you) for calling|get back to you)\b/
]
/** "This is Ann Smith speaking" has five. */
const mostNameWords = 5

const says = (patterns: ReadonlyArray<RegExp>, words: string): boolean => patterns.some((pattern) => pattern.test(words))
const isQuestion = (sentence: string): boolean => sentence.endsWith("?") || says(questions, plain(sentence))
const sentencesOf = (text: string): ReadonlyArray<string> => text.match(/[^.!?…]+[.!?…]*/g) ?? []

/** Undefined: this could be a person. */
export const farEndOf = (text: string, { isScreened, person }: HeardBefore): FarEnd | undefined => {
  const words = plain(text)
  if (isScreened) {
    if (says(screenings, words) || says(holds, words)) return "screening"
    if (says(mailboxes, words) || says(machines, words)) return "machine"
    return says(menus, words) ? "menu" : undefined
  }
  if (person === "talk") return undefined
  const isTold = (patterns: ReadonlyArray<RegExp>, isAsked: (sentence: string) => boolean) =>
    sentencesOf(text).some((sentence) => !isAsked(sentence) && says(patterns, plain(sentence)))
  if (isTold(mailboxes, (sentence) => says(offers, plain(sentence)))) return "machine"
  if (person === "name" || says(questions, words)) return undefined
  // A service may also ask for a name politely.
  if (says(screenings, words)) return "screening"
  if (isTold(machines, isQuestion)) return "machine"
  return isTold(menus, isQuestion) ? "menu" : undefined
}

/** What a turn shows of a person. Undefined: nothing, or it is a machine's. */
export const personIn = (text: string): PersonHeard | undefined => {
  const words = plain(text).split(" ")
  if (farEndOf(text, { isScreened: false, person: undefined }) !== undefined) return undefined
  if (text === notUnderstood || words.every((word) => word === "" || greetings.has(word))) return undefined
  const isAsked = sentencesOf(text).some(
    (sentence) =>
      isQuestion(sentence) &&
      plain(sentence)
        .split(" ")
        .some((word) => !greetings.has(word))
  )
  if (isAsked) return "talk"
  if (says(introductions, plain(text))) return undefined
  return words.length <= mostNameWords ? "name" : "talk"
}
