/**
 * Turns a block of Markdown into harmless HTML. Text of agents and tools is untrusted: only plain formatting gets
 * through, links
 * lead only to the web and open outside the page, and the HTML loads nothing.
 */
import DOMPurify from 'dompurify';
import type { Token } from 'marked';
import { FOOTNOTE, INLINE_IMAGE, marked, WEB_LINK } from './syntax.js';

const TAGS = (
  'p br hr h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code em strong del s b i u a table thead tbody tr th td img ' +
  'sup sub kbd details summary span'
).split(' ');
/** The tags in one line about a call: nothing that could look like a part of the page. */
const WORDS_TAGS = 'code em strong del s b i u a sup sub kbd span'.split(' ');
const ATTRIBUTES = ['href', 'title', 'src', 'alt', 'start', 'align', 'open'];
/**
 * The attributes that `decorate.ts` reads. Text that writes them by hand only gets the same: a formula, or a file to
 * open.
 */
const MARKS = ['data-math', 'data-footnote', 'data-task', 'data-file', 'data-image'];

const purifier = DOMPurify(window);
purifier.addHook('afterSanitizeAttributes', (node) => {
  if (node.tagName === 'IMG' && !INLINE_IMAGE.test(node.getAttribute('src') ?? '')) node.remove();
  if (node.tagName !== 'A') return;
  const href = node.getAttribute('href') ?? '';
  if (isFootnote(href)) return;
  if (!WEB_LINK.test(href)) return node.removeAttribute('href');
  node.setAttribute('target', '_blank');
  node.setAttribute('rel', 'noopener noreferrer nofollow');
});

function isFootnote(href: string): boolean {
  return href.startsWith(FOOTNOTE) && /^[\w-]{1,50}$/.test(href.slice(FOOTNOTE.length));
}

/** Scrolling through a long conversation mounts and unmounts its rows. */
const CACHE_MAX = 2_000;
const cache = new Map<string, string>();

export function blockHtml(token: Token): string {
  const known = cache.get(token.raw);
  if (known !== undefined) return known;
  const html = sanitized(marked.parser([token]));
  if (cache.size >= CACHE_MAX) cache.clear();
  cache.set(token.raw, html);
  return html;
}

export function inlineHtml(text: string): string {
  const html = marked.parseInline(text);
  return typeof html === 'string' ? sanitized(html, WORDS_TAGS) : '';
}

function sanitized(html: string, tags: readonly string[] = TAGS): string {
  return purifier.sanitize(html, {
    ALLOWED_TAGS: [...tags],
    ALLOWED_ATTR: [...ATTRIBUTES, ...MARKS],
    // Otherwise the sanitizer takes `app.ts:12` for an address.
    ADD_URI_SAFE_ATTR: [...MARKS],
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
  });
}
