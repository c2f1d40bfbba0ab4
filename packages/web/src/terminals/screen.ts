/** The terminal on the screen: draws what it is given, as fast as it can and no faster, and says what was typed. */
import { FitAddon } from '@xterm/addon-fit';
import { type IDisposable, Terminal } from '@xterm/xterm';
import { type RefObject, useEffect, useRef, useState } from 'react';
import { isForScreenReaders, theme } from '../ui/preferences.js';
import { coloursOf } from './colours.js';
import type { OpenTerminal } from './open-terminal.js';
import { UnreadOutput } from './unread.js';
import '@xterm/xterm/css/xterm.css';

const SCROLLBACK_LINES = 5_000;
const FONT_PX = 13;
/** Where more columns have to fit than there is room for; the rest is scrolled to. */
const FONT_MIN_PX = 11;
const LINE_HEIGHT = 1.15;
const MONO = 'ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, "Liberation Mono", monospace';

interface ScreenOptions {
  readonly terminal: OpenTerminal;
  readonly isReadOnly: boolean;
  /** Whether this page is the one that answers what programs ask. */
  isHolder(): boolean;
  /** The keyboard shortcut to leave was pressed. */
  onLeave?(): void;
  /** Something was drawn. */
  onDrawn?(): void;
}

export class Screen {
  readonly #xterm: Terminal;
  readonly #fit = new FitAddon();
  readonly #unread = new UnreadOutput();
  readonly #options: ScreenOptions;
  readonly #element: HTMLElement;
  #isWriting = false;
  #isAsked = false;
  /** The output being drawn is older than this view. */
  #isPast = true;

  constructor(element: HTMLElement, options: ScreenOptions) {
    defineStyleElement();
    const { terminal, isReadOnly } = options;
    this.#element = element;
    this.#options = options;
    this.#xterm = new Terminal({
      scrollback: SCROLLBACK_LINES,
      fontFamily: MONO,
      fontSize: FONT_PX,
      lineHeight: LINE_HEIGHT,
      disableStdin: isReadOnly,
      cursorInactiveStyle: isReadOnly ? 'none' : 'outline',
      minimumContrastRatio: 4.5,
      screenReaderMode: isForScreenReaders.get(),
      theme: coloursOf(element),
      linkHandler: { activate: (_event, uri) => void window.open(uri, '_blank', 'noopener,noreferrer') },
    });
    this.#xterm.loadAddon(this.#fit);
    this.#xterm.open(element);
    answerOnlyIf(this.#xterm, () => !this.#isPast && !isReadOnly && options.isHolder());
    this.#xterm.onData((data) => isReadOnly || terminal.input(data));
    this.#xterm.onBinary((data) => isReadOnly || terminal.input(data));
    this.#xterm.attachCustomKeyEventHandler((event) => this.#pressed(event));
    terminal.onOutput = (isNew) => this.#output(isNew);
    this.#output(true);
  }

  /** How many columns and rows there is room for; undefined while nothing is laid out. */
  room(): { readonly cols: number; readonly rows: number } | undefined {
    this.#font(FONT_PX);
    const found = this.#fit.proposeDimensions();
    return found && Number.isFinite(found.cols) && Number.isFinite(found.rows) ? found : undefined;
  }

  resize(cols: number, rows: number): void {
    if (cols !== this.#xterm.cols || rows !== this.#xterm.rows) this.#xterm.resize(cols, rows);
  }

  /** A size that another client chose is shown as it is; smaller letters help as far as they can be read. */
  shrinkTo(cols: number, rows: number): void {
    const room = this.room();
    const share = room ? room.cols / cols : 1;
    this.#font(share >= 1 ? FONT_PX : Math.max(FONT_MIN_PX, Math.floor(FONT_PX * share)));
    this.resize(cols, rows);
  }

  /** The lines that have something on them, and how many fit. */
  get lines(): { readonly used: number; readonly all: number; readonly cursor: number } {
    const { baseY, cursorY } = this.#xterm.buffer.active;
    const { rows } = this.#xterm;
    return { used: baseY > 0 ? rows : cursorY + 1, all: rows, cursor: cursorY };
  }

  focus(): void {
    this.#xterm.focus();
  }

  recolour(): void {
    this.#xterm.options.theme = coloursOf(this.#element);
  }

  readForScreenReaders(isOn: boolean): void {
    this.#xterm.options.screenReaderMode = isOn;
  }

  dispose(): void {
    this.#options.terminal.onOutput = undefined;
    this.#xterm.dispose();
  }

  #font(pixels: number): void {
    if (this.#xterm.options.fontSize !== pixels) this.#xterm.options.fontSize = pixels;
  }

  #pressed(event: KeyboardEvent): boolean {
    // Tab belongs to the shell; keyboard users need another way out.
    if (event.key !== 'Escape' || !event.shiftKey) return true;
    if (event.type === 'keydown') this.#options.onLeave?.();
    return false;
  }

  #output(isNew: boolean): void {
    if (isNew) this.#unread.restart();
    this.#isAsked = true;
    if (!this.#isWriting) this.#write();
  }

  /** One piece at a time: what comes meanwhile is taken together afterwards. */
  #write(): void {
    this.#isAsked = false;
    const { terminal, onDrawn } = this.#options;
    const { text, isFresh } = this.#unread.take(terminal.content);
    if (isFresh) {
      this.#isPast = true;
      this.#xterm.reset();
    }
    this.#isWriting = true;
    this.#xterm.write(text, () => {
      this.#isWriting = false;
      this.#isPast = false;
      onDrawn?.();
      if (this.#isAsked) this.#write();
    });
  }
}

/** Puts a terminal into an element, in the colours of the page. */
export function useScreen(box: RefObject<HTMLElement | null>, options: ScreenOptions): Screen | undefined {
  const [screen, setScreen] = useState<Screen>();
  /** Whether this page answers may change; the terminal on the screen stays. */
  const latest = useRef(options);
  latest.current = options;
  const { terminal, isReadOnly } = options;
  useEffect(() => {
    if (!box.current) return;
    const own = new Screen(box.current, {
      terminal,
      isReadOnly,
      isHolder: () => latest.current.isHolder(),
      onLeave: () => latest.current.onLeave?.(),
      onDrawn: () => latest.current.onDrawn?.(),
    });
    setScreen(own);
    const system = matchMedia('(prefers-color-scheme: dark)');
    const recolour = () => requestAnimationFrame(() => own.recolour());
    const stops = [
      theme.subscribe(recolour),
      isForScreenReaders.subscribe(() => own.readForScreenReaders(isForScreenReaders.get())),
    ];
    system.addEventListener('change', recolour);
    return () => {
      for (const stop of stops) stop();
      system.removeEventListener('change', recolour);
      own.dispose();
      setScreen(undefined);
    };
  }, [box, terminal, isReadOnly]);
  return screen;
}

const CSI = [
  { final: 'c' },
  { prefix: '>', final: 'c' },
  { prefix: '=', final: 'c' },
  { final: 'n' },
  { prefix: '?', final: 'n' },
  { intermediates: '$', final: 'p' },
  { prefix: '?', intermediates: '$', final: 'p' },
  { final: 't' },
];
const DCS = [{ intermediates: '$', final: 'q' }];
/** Colours are set by these, too; only those with a question mark ask. */
const OSC = [4, 10, 11, 12];

/**
 * Programs ask their terminal questions: where is the cursor, which colours are there. Exactly one may answer, or the
 * second answer ends up in the shell as if it had been typed. And what was asked in the past must stay unanswered.
 */
function answerOnlyIf(terminal: Terminal, canAnswer: () => boolean): IDisposable {
  const { parser } = terminal;
  const held = [
    ...CSI.map((id) => parser.registerCsiHandler(id, () => !canAnswer())),
    ...DCS.map((id) => parser.registerDcsHandler(id, () => !canAnswer())),
    ...OSC.map((id) => parser.registerOscHandler(id, (data) => data.includes('?') && !canAnswer())),
  ];
  return {
    dispose() {
      for (const each of held) each.dispose();
    },
  };
}

/**
 * An element that takes style rules as its text, like `<style>`, and adopts them as a sheet of the document while it is
 * there. A content policy without inline styles allows this: only scripts of the page itself can do it.
 */
class StyleElement extends HTMLElement {
  readonly #sheet = new CSSStyleSheet();

  override get textContent(): string {
    return '';
  }

  override set textContent(css: string | null) {
    this.#sheet.replaceSync(css ?? '');
  }

  connectedCallback(): void {
    this.hidden = true;
    if (!document.adoptedStyleSheets.includes(this.#sheet)) document.adoptedStyleSheets.push(this.#sheet);
  }

  disconnectedCallback(): void {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => sheet !== this.#sheet);
  }
}

function defineStyleElement(): void {
  if (!customElements.get('atrium-style')) customElements.define('atrium-style', StyleElement);
}
