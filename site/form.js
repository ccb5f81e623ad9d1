// Forms: what was typed, and what the server says of it, beside the field that it is about.

export const byId = (id) => document.getElementById(id)

/** Shows a message beside the fields that it names, `name: must have ...; tag: ...`, and the rest below the form. */
export function showRefusal(form, message, rest) {
  const others = []
  let field
  for (const part of message.split('; ')) {
    const [, name, text] = /^(\w+): (.*)$/s.exec(part) ?? []
    const named = name === undefined ? undefined : form.elements.namedItem(name)
    if (named instanceof HTMLInputElement) {
      field = named
      tell(field, text)
    } else if (field === undefined) others.push(part)
    else tell(field, `${errorOf(field).textContent}; ${part}`)
  }
  rest.textContent = others.join('; ')
  form.querySelector('[aria-invalid]')?.focus()
}

export function clearRefusal(form, rest) {
  rest.textContent = ''
  for (const field of form.querySelectorAll('[aria-invalid]')) {
    field.removeAttribute('aria-invalid')
    errorOf(field).textContent = ''
  }
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
