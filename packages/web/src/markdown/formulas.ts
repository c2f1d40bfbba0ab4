/** Draws formulas as harmless HTML. A file of its own, which loads with the first formula. */
import DOMPurify from 'dompurify';
import katex from 'katex';
import 'katex/dist/katex.min.css';

/** How often macros may expand. */
const EXPANSIONS_MAX = 300;
const SIZE_MAX_EM = 20;
const CACHE_MAX = 1_000;

const TAGS = (
  'span math semantics mrow mi mo mn ms mtext mspace msup msub msubsup mfrac msqrt mroot mover munder munderover mtable mtr ' +
  'mtd mlabeledtr menclose mstyle mpadded mphantom mglyph svg path line'
).split(' ');
const ATTRIBUTES = (
  'class aria-hidden data-style xmlns width height viewBox preserveAspectRatio d x1 x2 y1 y2 stroke-width display ' +
  'mathvariant mathcolor mathbackground mathsize stretchy fence separator lspace rspace minsize maxsize accent accentunder ' +
  'scriptlevel displaystyle columnalign columnspacing rowspacing columnlines rowlines linethickness notation voffset ' +
  'depth movablelimits largeop side encoding'
).split(' ');

/** The page's content policy allows no styles in HTML, so the code sets the library's styles one by one: only these. */
const STYLES = new Set(
  (
    'height width min-width vertical-align top bottom left position margin-left margin-right margin-top padding-left ' +
    'padding-right color background-color border-bottom-width border-top-width border-right-width border-width border-style ' +
    'border-color border-right-style border-left-width'
  ).split(' '),
);
const PLAIN_VALUE = /^[\w.%#+ -]{1,60}$/;

const purifier = DOMPurify();
const cache = new Map<string, string>();

/** Throws if the text is not a formula. */
function formulaHtml(tex: string, isBlock: boolean): string {
  const key = `${isBlock} ${tex}`;
  const known = cache.get(key);
  if (known !== undefined) return known;
  const made = katex.renderToString(tex, {
    ...{ displayMode: isBlock, throwOnError: true, trust: false, strict: 'ignore', output: 'htmlAndMathml' },
    ...{ maxExpand: EXPANSIONS_MAX, maxSize: SIZE_MAX_EM, errorColor: 'currentcolor' },
  });
  const html = purifier.sanitize(made.replaceAll(' style="', ' data-style="'), {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ATTRIBUTES,
    // Otherwise the sanitizer takes `height:1em` for an address.
    ADD_URI_SAFE_ATTR: ['data-style'],
    ALLOW_DATA_ATTR: false,
  });
  if (cache.size >= CACHE_MAX) cache.clear();
  cache.set(key, html);
  return html;
}

/** False if the element stays unchanged. */
export function drawFormula(element: HTMLElement, tex: string, isBlock: boolean): boolean {
  try {
    const box = document.createElement('span');
    box.className = isBlock ? 'formula block' : 'formula';
    box.innerHTML = formulaHtml(tex, isBlock);
    for (const styled of box.querySelectorAll<HTMLElement>('[data-style]')) setStyles(styled);
    element.replaceWith(box);
    return true;
  } catch {
    return false;
  }
}

function setStyles(element: HTMLElement | SVGElement): void {
  for (const rule of (element.dataset.style ?? '').split(';')) {
    const [name = '', value = ''] = rule.split(':');
    if (STYLES.has(name) && PLAIN_VALUE.test(value)) element.style.setProperty(name, value);
  }
  element.removeAttribute('data-style');
}
