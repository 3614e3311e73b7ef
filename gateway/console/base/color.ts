/** The colors of the style sheet, for canvases, which know neither its names nor `light-dark()`. */
export type Color = "--good" | "--bad" | "--accent" | "--faint" | "--ink" | "--line"

/** What it is at this place of the page, and in the scheme of the present. */
export const colorAt = (place: HTMLElement, name: Color): string => {
  const { color } = place.style
  place.style.color = `var(${name})`
  const found = getComputedStyle(place).color
  place.style.color = color
  return found
}
