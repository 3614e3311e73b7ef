/** Arithmetic for the model, which is bad at it: numbers, `+ - * / % **` and parentheses. Never evaluates code. */

type Computed = { readonly value: number } | { readonly error: string }

const longestExpression = 200
const deepest = 50
const numberPattern = /^(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,3})?/i

class Unreadable extends Error {}

/** Recursive descent. `**` binds tightest and to the right, as in Python: `-2 ** 2` is -4. */
const makeReader = (text: string) => {
  let at = 0
  let depth = 0
  const skip = () => {
    while (text[at] === " ") at++
  }
  const takes = (sign: string): boolean => {
    skip()
    if (!text.startsWith(sign, at)) return false
    // The first half of `**` is not a `*`.
    if (sign === "*" && text[at + 1] === "*") return false
    at += sign.length
    return true
  }
  const nested = (read: () => number): number => {
    if (++depth > deepest) throw new Unreadable("The expression is nested too deeply")
    const value = read()
    depth--
    return value
  }
  const number = (): number => {
    skip()
    const [digits] = numberPattern.exec(text.slice(at)) ?? []
    if (digits === undefined) throw new Unreadable("The expression is not arithmetic")
    at += digits.length
    return Number(digits)
  }
  const atom = (): number => {
    if (!takes("(")) return number()
    const value = nested(sum)
    if (!takes(")")) throw new Unreadable("A parenthesis is not closed")
    return value
  }
  const power = (): number => {
    const base = atom()
    return takes("**") ? base ** nested(signed) : base
  }
  const signed = (): number => {
    if (takes("-")) return -nested(signed)
    return takes("+") ? nested(signed) : power()
  }
  const product = (): number => {
    let value = signed()
    while (true) {
      if (takes("*")) value *= signed()
      else if (takes("/")) value = divided(value, signed(), (a, b) => a / b)
      // The remainder has the sign of the divisor, as in Python.
      else if (takes("%")) value = divided(value, signed(), (a, b) => ((a % b) + b) % b)
      else return value
    }
  }
  const sum = (): number => {
    let value = product()
    while (true) {
      if (takes("+")) value += product()
      else if (takes("-")) value -= product()
      else return value
    }
  }
  return () => {
    const value = sum()
    skip()
    if (at < text.length) throw new Unreadable("The expression is not arithmetic")
    return value
  }
}

const divided = (value: number, by: number, how: (a: number, b: number) => number): number => {
  if (by === 0) throw new Unreadable("Division by zero")
  return how(value, by)
}

export const calculate = (expression: string): Computed => {
  if (expression.length > longestExpression) return { error: `The expression has more than ${longestExpression} characters` }
  try {
    const value = makeReader(expression)()
    if (!Number.isFinite(value)) return { error: "The result is too large" }
    // Twelve digits, so that 0.1 + 0.2 is 0.3.
    return { value: Number.isSafeInteger(value) ? value : Number(value.toPrecision(12)) }
  } catch (error) {
    if (error instanceof Unreadable) return { error: error.message }
    throw error
  }
}
