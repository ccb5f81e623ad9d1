// Forms: what was typed, and what the server says of it, beside the field that it is about.

export const byId = (id) => document.getElementById(id)

/** The server's words as a sentence: `id: must be ...` is `Id must be ...`; one with a subject of its own needs no field. */
export function toSentence(message) {
  const words = message.replace(/^[\w-]+: (?=(?:a|the|there) )/, '').replace(/^([\w-]+): /, '$1 ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** Shows a message beside the fields that it names, `name: must have ...; tag: ...`, and the rest below the form. */
export function showRefusal(form, message, rest) {
  const others = []
  let field
  for (const part of message.split('; ')) {
    const named = form.elements.namedItem(/^(\w+): /.exec(part)?.[1] ?? '')
    if (named instanceof HTMLInputElement) {
      field = named
      tell(field, toSentence(part))
    } else if (field === undefined) others.push(part)
    else tell(field, `${errorOf(field).textContent}; ${part}`)
  }
  rest.textContent = toSentence(others.join('; '))
  form.querySelector('[aria-invalid]')?.focus()
}

export function clearRefusal(form, rest) {
  rest.textContent = ''
  for (const field of form.querySelectorAll('[aria-invalid]')) {
    field.removeAttribute('aria-invalid')
    errorOf(field).textContent = ''
  }
}

/** Whether every field that has to be filled in is; those that are not say so. */
export function isFilledIn(form) {
  const missing = [...form.querySelectorAll('[data-missing]')].filter((field) => field.value.trim() === '')
  for (const field of missing) tell(field, field.dataset.missing)
  missing[0]?.focus()
  return missing.length === 0
}

export function tell(field, text) {
  field.setAttribute('aria-invalid', 'true')
  errorOf(field).textContent = text
}

function errorOf(field) {
  return byId(`${field.id}-error`)
}

/** Runs what a form does, once at a time: its buttons rest until it is done. */
export async function whileBusy(form, run) {
  if (form.ariaBusy === 'true') return
  form.ariaBusy = 'true'
  try {
    await run()
  } finally {
    form.ariaBusy = null
  }
}
