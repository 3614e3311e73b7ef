/** The parts of a page, each at a place of its own. */
interface TabsProps {
  readonly label: string
  /** The page's place, without the tab. */
  readonly at: string
  readonly tabs: ReadonlyArray<readonly [path: string, name: string]>
  readonly chosen: string
}

export const Tabs = ({ at, chosen, label, tabs }: TabsProps) => (
  <nav class="tabs" aria-label={label}>
    {tabs.map(([path, name]) => (
      <a key={path} href={`#/${at}/${path}`} aria-current={path === chosen ? "page" : undefined}>
        {name}
      </a>
    ))}
  </nav>
)
