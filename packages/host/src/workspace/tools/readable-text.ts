/** The text of a page as Markdown: what a person would read of it, without menus, scripts and forms. */
import { ToolFailure } from '@atrium/core/contracts/tool.js';
import { nextSlice } from '@atrium/core/util/slices.js';
import { Parser } from 'htmlparser2';

/** Elements that are skipped with all of their content. */
const LEFT_OUT = new Set(
  'script style noscript template svg canvas iframe object form nav footer aside button select dialog'.split(' '),
);
/** Elements with an empty line around them. */
const BLOCKS = new Set(
  'p div section article main header figure figcaption address details summary ul ol dl dt dd table pre blockquote hr h1 h2 h3 h4 h5 h6'.split(
    ' ',
  ),
);
const EMPHASIS: Readonly<Record<string, string>> = { strong: '**', b: '**', em: '_', i: '_', code: '`' };
/** A page with less text than this in its main part has its text elsewhere. */
const MAIN_MIN_CHARACTERS = 200;
/** Lists that are nested deeper than this are not meant for reading. */
const LISTS_MAX = 20;

/** At every end tag the parser searches all open elements; a page that opens more than this is made to keep it busy. */
const DEPTH_MAX = 256;
/** How much is read before other work gets its turn. */
const SLICE_CHARACTERS = 64 * 1_024;

/** Throws when the page is not made for reading. */
export async function readableText(html: string, base: URL): Promise<string> {
  const whole = new MarkdownWriter(base, false);
  const main = new MarkdownWriter(base, true);
  let depth = 0;
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (++depth > DEPTH_MAX) throw new ToolFailure('NOT_TEXT', 'The page is nested too deep to be read.');
        for (const writer of [whole, main]) writer.open(name, attributes);
      },
      onclosetag(name) {
        depth--;
        for (const writer of [whole, main]) writer.close(name);
      },
      ontext(text) {
        for (const writer of [whole, main]) writer.text(text);
      },
    },
    { decodeEntities: true },
  );
  for (let at = 0; at < html.length; at += SLICE_CHARACTERS) {
    parser.write(html.slice(at, at + SLICE_CHARACTERS));
    await nextSlice();
  }
  parser.end();
  const { title, text: all } = whole.done();
  const { text: inMain } = main.done();
  const text = inMain.length >= MAIN_MIN_CHARACTERS ? inMain : all;
  return title === '' || text.startsWith(`# ${title}`) ? text : `# ${title}\n\n${text}`;
}

class MarkdownWriter {
  readonly #base: URL;
  readonly #onlyMain: boolean;
  readonly #out: string[] = [];
  readonly #lists: { isOrdered: boolean; count: number }[] = [];
  /** The open link; links are never nested. */
  #link: { readonly at: number; readonly href: string | undefined } | undefined;
  #leftOut = 0;
  #main = 0;
  #pre = 0;
  #isTitle = false;
  #title = '';
  #endsWithSpace = true;

  constructor(base: URL, onlyMain: boolean) {
    this.#base = base;
    this.#onlyMain = onlyMain;
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    if (name === 'title' && this.#title === '') this.#isTitle = true;
    if (name === 'main' || name === 'article') this.#main++;
    if (LEFT_OUT.has(name)) this.#leftOut++;
    if (this.#isHidden) return;
    if (BLOCKS.has(name)) this.#line('\n\n');
    const level = /^h([1-6])$/.exec(name)?.[1];
    if (level !== undefined) this.#write(`${'#'.repeat(Number(level))} `);
    else if (name === 'br') this.#line('\n');
    else if (name === 'hr') this.#write('---\n\n');
    else if (name === 'blockquote') this.#write('> ');
    else if (name === 'tr') this.#line('\n');
    else if (name === 'td' || name === 'th') this.#write('| ');
    else if (name === 'pre' && this.#pre++ === 0) this.#write('```\n');
    else if (name === 'ul' || name === 'ol') this.#lists.push({ isOrdered: name === 'ol', count: 0 });
    else if (name === 'li') this.#item();
    else if (name === 'a') this.#beginLink(attributes.href);
    else if (name === 'img' && attributes.alt) this.#write(`[picture: ${attributes.alt.slice(0, 200)}]`);
    else if (this.#pre === 0 && Object.hasOwn(EMPHASIS, name)) this.#write(EMPHASIS[name] ?? '');
  }

  close(name: string): void {
    if (name === 'title') this.#isTitle = false;
    if (!this.#isHidden) {
      if (name === 'a') this.#endLink();
      else if (name === 'pre' && this.#pre > 0 && --this.#pre === 0) this.#write('\n```\n\n');
      else if (name === 'ul' || name === 'ol') this.#lists.pop();
      else if (name === 'td' || name === 'th') this.#write(' ');
      else if (this.#pre === 0 && Object.hasOwn(EMPHASIS, name)) this.#write(EMPHASIS[name] ?? '');
      if (BLOCKS.has(name)) this.#line('\n\n');
    }
    if (LEFT_OUT.has(name) && this.#leftOut > 0) this.#leftOut--;
    if ((name === 'main' || name === 'article') && this.#main > 0) this.#main--;
  }

  text(text: string): void {
    if (this.#isTitle) this.#title += text;
    if (this.#isHidden || this.#isTitle) return;
    if (this.#pre > 0) return this.#write(text);
    const plain = text.replaceAll(/\s+/g, ' ');
    this.#write(this.#endsWithSpace ? plain.trimStart() : plain);
  }

  done(): { text: string; title: string } {
    const lines = this.#out.join('').split('\n');
    const text = lines
      .map((line) => line.trimEnd())
      .join('\n')
      .replaceAll(/\n{3,}/g, '\n\n')
      .trim();
    return { text, title: this.#title.replaceAll(/\s+/g, ' ').trim() };
  }

  get #isHidden(): boolean {
    return this.#leftOut > 0 || (this.#onlyMain && this.#main === 0);
  }

  #item(): void {
    const list = this.#lists.at(-1);
    const indent = '  '.repeat(Math.min(Math.max(0, this.#lists.length - 1), LISTS_MAX));
    this.#line('\n');
    this.#write(`${indent}${list?.isOrdered ? `${++list.count}.` : '-'} `);
  }

  #beginLink(href: string | undefined): void {
    this.#endLink();
    this.#link = { at: this.#out.length, href };
  }

  /** Links to the page itself, and links without words, become plain text. */
  #endLink(): void {
    const link = this.#link;
    this.#link = undefined;
    if (!link) return;
    const words = this.#out.slice(link.at).join('').trim();
    const { href } = link;
    if (words === '' || words.includes('\n') || href === undefined || href.startsWith('#')) return;
    if (!URL.canParse(href, this.#base.href)) return;
    const target = new URL(href, this.#base);
    if (target.protocol !== 'http:' && target.protocol !== 'https:') return;
    this.#out.length = link.at;
    this.#write(`[${words}](${target.href})`);
  }

  #line(end: string): void {
    this.#out.push(end);
    this.#endsWithSpace = true;
  }

  #write(text: string): void {
    if (text === '') return;
    this.#out.push(text);
    this.#endsWithSpace = /\s$/.test(text);
  }
}
