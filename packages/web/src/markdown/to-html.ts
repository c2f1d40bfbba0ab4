/**
 * From a block of Markdown to HTML that can do no harm. What an agent or a tool writes is a stranger's text: only plain
 * formatting gets through, links leave by themselves and only to the web, and nothing is ever loaded.
 */
import DOMPurify from 'dompurify';
import { Marked, type Token } from 'marked';

const TAGS = (
  'p br hr h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code em strong del s b i u a table thead tbody tr th td img ' +
  'sup sub kbd details summary'
).split(' ');
/** In one line about a call: nothing that could look like a part of the page. */
const WORDS_TAGS = 'code em strong del s b i u a sup sub kbd'.split(' ');
const ATTRIBUTES = ['href', 'title', 'src', 'alt', 'start', 'align', 'open'];
const WEB_LINK = /^(?:https?:|mailto:)/i;
/** Pictures that travel in the text itself. SVG is left out: it is a document, not a picture. */
const INLINE_IMAGE = /^data:image\/(?:png|jpeg|gif|webp);base64,[a-z0-9+/=\s]*$/i;

const marked = new Marked({
  gfm: true,
  renderer: {
    image({ href, text }) {
      const label = escapeText(text || 'image');
      if (INLINE_IMAGE.test(href)) return `<img src="${href}" alt="${label}">`;
      return WEB_LINK.test(href) ? `<a href="${escapeText(href)}">Image: ${label}</a>` : `Image: ${label}`;
    },
    checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
  },
});

const purifier = DOMPurify(window);
purifier.addHook('afterSanitizeAttributes', (node) => {
  if (node.tagName === 'IMG' && !INLINE_IMAGE.test(node.getAttribute('src') ?? '')) node.remove();
  if (node.tagName !== 'A') return;
  if (!WEB_LINK.test(node.getAttribute('href') ?? '')) return node.removeAttribute('href');
  node.setAttribute('target', '_blank');
  node.setAttribute('rel', 'noopener noreferrer nofollow');
});

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
    ALLOWED_ATTR: ATTRIBUTES,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
  });
}

function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
