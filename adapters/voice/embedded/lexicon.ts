/** How authors of agents describe what callees mean, and the English words that carry no meaning or change that of others. */
import type { Meaning } from "./phrases.ts"

/** The meaning of an edge's answers, by its label and condition. The first match counts. */
export const triggers: ReadonlyArray<readonly [Meaning, RegExp]> = [
  ["opt_out", /\b(?:opt(?:s|ed)? ?out|do not call|dont call|never call|stop calling|unsubscrib\w*|remov\w+ from|off (?:the|our) list)\b/],
  ["voicemail", /\b(?:voice ?mail|answering machine)\b/],
  [
    "wrong_person",
    /\b(?:wrong (?:person|number|contact)|not the (?:right |correct |intended )?(?:person|contact|customer|patient|one)|someone else|somebody else)\b/
  ],
  ["paid", /\b(?:already paid|has paid|have paid|paid already|payment (?:was |has been )?made)\b/],
  [
    "reschedule",
    /\b(?:reschedul\w*|(?:other|another|different|new) (?:day|date|time|appointment)|postpon\w*|(?:change|move)s? (?:the|their) (?:date|time|appointment))\b/
  ],
  ["cancel", /\bcancel\w*\b/],
  ["callback", /\b(?:busy|call(?:ed)? ?(?:them )?back|callback|later|bad time|not a good time|inconvenient)\b/],
  [
    "human",
    /\b(?:human|(?:real|live) (?:person|agent)|operator|representative|transfer\w*|supervisor|manager|colleague|speak (?:to|with) (?:a|an|some))\b/
  ],
  [
    "not_interested",
    /\b(?:not? (?:be )?(?:longer )?interest\w*|(?:dont|doesnt|does not|do not) want|declin\w*|reject\w*|refus\w*|uninterested)\b/
  ],
  ["goodbye", /\b(?:goodbye|says bye|nothing else|no (?:more|further|other) questions?|hangs? up|ends? the call)\b/],
  ["repeat", /\brepeat\w*\b/],
  [
    "deny",
    /\b(?:no|not|den(?:y|ies|ied)|disagree\w*|negative\w*|dont|doesnt|isnt|wont|cannot|cant|incorrect|unable|dissatisf\w*|unhappy)\b/
  ],
  [
    "affirm",
    /\b(?:yes|confirm\w*|agree\w*|accept\w*|affirm\w*|positive\w*|correct|interested|wants?|would like|willing|ready|able|can|good time|happy|satisf\w*|right person|approv\w*)\b/
  ]
]

/** Matches edges that take an answer of any content: `the callee has told their name`. */
export const anyAnswer =
  /\b(?:answer\w*|respon\w+|repl(?:y|ies|ied)|g[ai]ven?|gives|provid\w+|tells?|told|says?|said|nam(?:es|ed)|collect\w*|shar(?:es|ed)|know[ns]?|always|any\w*|next|continue\w*|proceed\w*|done|finished|complete\w*|after)\b/

/** Matches edges whose effect cannot be undone, unless their author says otherwise. */
export const irreversible =
  /\b(?:cancel\w*|delet\w*|terminat\w*|clos\w+ (?:the |their )?account|pay|pays|charg\w*|purchas\w*|buys?|orders?|transfer (?:the )?money)\b/

/** Words that carry no meaning of their own. */
export const fillers: ReadonlySet<string> = new Set(
  (
    "a about actually ah am an and at be been but by can could did do for from had has have hello hey hi hmm i id if ill im in is it its ive just " +
    "kind like me mm my now of oh on or please really she he so some sir madam maam mate thank thanks that thats the then there think this to uh um us very was we well " +
    "were will with would yknow you your youre sorry for it again too much want need got get okay"
  ).split(" ")
)

export const negators: ReadonlySet<string> = new Set(
  "not no never dont doesnt didnt isnt arent wasnt cant cannot wont wouldnt shouldnt neither without aint".split(" ")
)

/** Words that may precede a yes or no at the start of a sentence. */
export const interjections: ReadonlySet<string> = new Set("uh um oh ah well hmm hello hi hey sorry please ok okay so".split(" "))

/** Words that may follow any yes or no: `fine i can do that`, but not `fine dining`. */
export const continuations: ReadonlySet<string> = new Set(
  "i im id ill ive it its that thats this we you please sir madam thanks thank but and so because actually really wait not never".split(" ")
)

/** Words that are a yes or no by themselves, whatever follows: `yes the ninth`, but not `yes minister`. */
export const plainAnswers: ReadonlySet<string> = new Set("yes yeah yep yup no nope nah".split(" "))
export const plainContinuations: ReadonlySet<string> = new Set("he she they there lets let on at for of in my the go".split(" "))

/** Phrases that can open a sentence about anything, and are an answer only at its end: `i do`, but not `i do the laundry`. */
export const openings: ReadonlySet<string> = new Set(
  "i do|i am|i will|i would|i can|i dont|i do not|i am not|im not|i cant|i cannot|i wont|i will not|i would not".split("|")
)

/** Words that add nothing to a value beside them: `friday would suit us best`. */
export const besideValues: ReadonlySet<string> = new Set(
  "come works work suit suits good fine great best better perfect people persons guests make meant mean say said guess maybe around next number date time day yes no yeah sure".split(
    " "
  )
)

/** Words before which `one` is not a number: `the other one`. */
export const beforePronouns: ReadonlySet<string> = new Set(
  "the that this which every some any another each other last right wrong".split(" ")
)

/** Matches the beginnings of questions. */
export const questions =
  /^(?:who|whos|what|whats|why|how|hows|where|wheres|when|which|whose|is|are|was|does|do you|did|can you|could you|will you|have you)\b/
