// Copy buttons, and the place in the table of contents. The pages work without it.
for (const button of document.querySelectorAll('[data-copy-code]')) {
  const said = button.textContent
  button.hidden = false
  button.addEventListener('click', async () => {
    const code = button.parentElement.querySelector('code')
    try {
      await navigator.clipboard.writeText(code.textContent)
    } catch {
      getSelection().selectAllChildren(code)
      if (!document.execCommand('copy')) return
    }
    button.textContent = 'Copied'
    setTimeout(() => {
      button.textContent = said
    }, 2000)
  })
}

const links = new Map([...document.querySelectorAll('.contents a')].map((link) => [link.hash.slice(1), link]))
if (links.size > 0) {
  const seen = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue
      for (const [id, link] of links) link.toggleAttribute('data-here', id === target.id)
    }
  }, { rootMargin: '-10% 0px -75% 0px' })
  for (const id of links.keys()) {
    const heading = document.getElementById(id)
    if (heading) seen.observe(heading)
  }
}
