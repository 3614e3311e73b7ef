/**
 * What Whisper and its successors make of silence and noise: the ends of the videos that they were trained on, and names of sounds
 * (https://github.com/openai/whisper/discussions/679). Nobody says these on the phone; what callees may say, such as a mere "Thank you.", is kept.
 */

/** Each is a whole sentence, in lower case and without punctuation. */
const inventions: ReadonlyArray<RegExp> = [
  /amara org|dimatorzok|qtss$/,
  /^(thank you|thanks)( so much| very much)?( all)? for watching( (this|the|my) video)?$/,
  /^(please )?((like|comment) )*(and )?subscribe( to (my|our|the) channel)?$/,
  /^(i will |i ll )?see you (in|at) the next video$/,
  /^(subtitles|captions) by .*$/,
  /^untertitel(ung)? (von|des|im auftrag des) .*$|^vielen dank fürs zuschauen$/,
  /^sous titr(es|age) (réalisés|par|st|société) ?.*$|^merci d avoir regardé( cette vidéo)?$/,
  /^subtítulos (realizados )?por .*$|^gracias por ver( el video| el vídeo)?$|^suscríbete al canal$/,
  /^legendas (pela|por) .*$|^obrigad[oa] por assistir$|^sottotitoli (creati|a cura) .*$|^grazie per la visione$/,
  /^ondertitel(s|ing) (door|ingediend) .*$|^bedankt voor het kijken$/,
  /^субтитры (сделал|создавал|делал|подогнал) .*$|^продолжение следует$|^спасибо за просмотр$/,
  /^abone olmayı unutmayın$|^i\u0307?zlediğiniz için teşekkür(ler| ederim)$/,
  /^ご視聴(いただき)?ありがとうございま(した|す)$|^次の動画でお会いしましょう$/,
  /^시청해 ?주셔서 감사합니다$|^(感谢|谢谢)(您的)?(观看|收看)$|^字幕(由|组|志愿者).*$/
]
/** `[BLANK_AUDIO]`, `(music)`, `*cough*`; but not the area code of a phone number. */
const sounds = /\[[^\]\d]*\]|\([^)\d]*\)|\*[^*\d]*\*|♪/g
const sentenceEnd = /[.!?]+(?:\s|$)|[。！？]+/

const wordsOf = (text: string): string => (text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).join(" ")

/** What was said of a transcription: empty if it is an invention, or repeats the prompt, as these models also do. */
export const saidIn = (text: string, prompt: string): string => {
  const said = text.replace(sounds, " ").replace(/\s+/g, " ").trim()
  const sentences = said.split(sentenceEnd).map(wordsOf)
  const isInvented = sentences.every((words) => words === "" || inventions.some((invention) => invention.test(words)))
  // A single term may well be the answer.
  const isPrompt = prompt.includes(",") && wordsOf(said) === wordsOf(prompt)
  return isInvented || isPrompt ? "" : said
}
