import { describe, expect, test } from 'vitest'
import { html, linkTo } from './html.ts'

describe('html', () => {
  test.each([
    ['<script>alert(1)</script>', '<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>'],
    ['" onmouseover="x', '<p>&quot; onmouseover=&quot;x</p>'],
    ['\' onclick=\'x', '<p>&#39; onclick=&#39;x</p>'],
    ['&lt;b&gt; `x`', '<p>&amp;lt;b&amp;gt; &#96;x&#96;</p>'],
    ['${1} $& \\n', '<p>${1} $&amp; \\n</p>'],
  ])('%s is text, whatever it says', (text, markup) => {
    expect(html`<p>${text}</p>`.markup).toBe(markup)
  })

  test('markup inside markup stays, lists are joined, what is not there leaves nothing', () => {
    expect(html`<ul>${['a', '<b>'].map((text) => html`<li>${text}</li>`)}</ul>${null}${undefined}${false}${0}`.markup)
      .toBe('<ul><li>a</li><li>&lt;b&gt;</li></ul>0')
  })
})

describe('linkTo', () => {
  test.each(['https://shop.example/done?a=1', 'http://localhost:4003/pages/x', 'tokoapp://orders/1'])('%s may be a link', (address) => {
    expect(linkTo(address)).not.toBeNull()
  })

  test.each(['javascript:alert(1)', ' JaVaScRiPt:alert(1)', 'java\nscript:alert(1)', 'data:text/html,x', 'vbscript:x', 'blob:https://x/y', 'not a link'])('%j may not', (address) => {
    expect(linkTo(address)).toBeNull()
  })
})
