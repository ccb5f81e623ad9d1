// The menus of the page: one is open at most, and it closes once it has served or is left.

/** Closes the open menu, and gives the focus back to its summary if it is in the menu. */
export function closeMenu(): void {
  const menu = document.querySelector('.menu[open]')
  if (!(menu instanceof HTMLDetailsElement)) return
  const hasFocus = menu.contains(document.activeElement)
  menu.open = false
  if (hasFocus) menu.querySelector('summary')?.focus()
}

export function createMenus(): void {
  for (const leave of ['pointerdown', 'focusin'] as const) {
    document.addEventListener(leave, ({ target }) => {
      if (!(target instanceof Element) || target.closest('.menu[open]') === null) closeMenu()
    })
  }
  for (const menu of document.querySelectorAll<HTMLElement>('.menu')) {
    menu.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return
      // A search field would lose its text.
      event.preventDefault()
      closeMenu()
    })
    menu.addEventListener('submit', closeMenu)
    menu.addEventListener('click', ({ target }) => {
      if (target instanceof Element && target.closest('.chip, #add-many, #help') !== null) closeMenu()
    })
  }
}
