// The menus of the page: one is open at most, and it closes once it has served or is left.

/** Closes the open menu, and gives the focus back to its summary if it is in the menu. */
export function closeMenu(): void {
  const menu = document.querySelector('.menu[open]')
  if (menu?.contains(document.activeElement)) menu.querySelector('summary')?.focus()
  menu?.removeAttribute('open')
}

function isIn(target: EventTarget | null, part: string): boolean {
  return target instanceof Element && target.closest(part) !== null
}

for (const leave of ['pointerdown', 'focusin'])
  document.addEventListener(leave, ({ target }) => isIn(target, '.menu[open]') || closeMenu())
document.addEventListener('submit', closeMenu)
document.addEventListener('click', ({ target }) => isIn(target, '.menu :is(.chip, #add-many, #help)') && closeMenu())
document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape' || !isIn(event.target, '.menu[open]')) return
  // A search field would lose its text.
  event.preventDefault()
  closeMenu()
})
