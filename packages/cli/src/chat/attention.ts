/**
 * Whether somebody looks at this chat, and how they are called when they do not: a bell, and a notification of the terminal. The
 * host decides when; this side says what is in view. A terminal that says when it gets and loses the focus is believed. With any
 * other, the chat is in view for a while after each key.
 */
import type { Client } from '@atrium/client';
import {
  NOTIFIED_METHOD,
  type NotificationMessage,
  readNotificationMessage,
  VIEW_METHOD,
} from '@atrium/protocol/ahp-1';
import { io } from '../io.js';
import { printable } from '../text/printable.js';

/** After the last key, where nothing is known of the focus. */
export const TYPED_VIEW_MS = 60_000;
const TEXT_MAX_CHARACTERS = 200;

const BELL = '\u0007';
const OSC = '\u001b]';
const END = '\u001b\\';

/** People who said `/notify off`, as long as they stay connected. */
const silenced = new WeakSet<Client>();

export function silence(client: Client, isSilent: boolean): void {
  if (isSilent) silenced.add(client);
  else silenced.delete(client);
}

export class Attention {
  /** Undefined: the terminal has not said anything of it. */
  #isFocused: boolean | undefined;
  #wasTyped = true;
  #timer: NodeJS.Timeout | undefined;
  #reported = '';
  readonly #io = io();

  constructor(
    private readonly client: Client,
    private readonly session: string,
  ) {}

  /** The returned function ends it: nothing is in view here any more. */
  follow(): () => void {
    const { client } = this;
    const offs = [
      client.onExtension(NOTIFIED_METHOD, (params) => this.#told(readNotificationMessage(params))),
      // To the host it is another connection, of which it knows nothing.
      client.onStatus(({ at }) => {
        if (at === 'open') this.#report(true);
      }),
    ];
    this.typed();
    this.#report(true);
    return () => {
      clearTimeout(this.#timer);
      for (const off of offs) off();
      this.#send({ isInView: false });
    };
  }

  focused(isFocused: boolean): void {
    this.#isFocused = isFocused;
    this.#report();
  }

  typed(): void {
    this.#wasTyped = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#wasTyped = false;
      this.#report();
    }, TYPED_VIEW_MS);
    this.#timer.unref();
    this.#report();
  }

  get #isInView(): boolean {
    return this.#isFocused ?? this.#wasTyped;
  }

  #report(isNew = false): void {
    const { session } = this;
    const view = { session, isInView: this.#isInView, shows: !silenced.has(this.client) };
    const text = JSON.stringify(view);
    if (text === this.#reported && !isNew) return;
    this.#reported = text;
    this.#send(view);
  }

  /** Hosts of others do not know the method, and one that is gone is told when it is back. */
  #send(view: object): void {
    this.client.requestExtension(VIEW_METHOD, view).catch(() => {});
  }

  #told(message: NotificationMessage | undefined): void {
    if (message?.kind !== 'show' || message.session !== this.session) return;
    if (this.#isFocused === true || silenced.has(this.client)) return;
    this.#io.stdout.write(callFor(message, this.#io.env));
  }
}

/** A bell, and one notification in the way that the terminal knows: a terminal may know both, and would show two. */
export function callFor(
  { title, body = '' }: Pick<NotificationMessage, 'title' | 'body'>,
  env: Readonly<Record<string, string | undefined>>,
): string {
  const { TERM = '', VTE_VERSION } = env;
  if (VTE_VERSION !== undefined || /^(rxvt|foot)/.test(TERM))
    return `${BELL}${OSC}777;notify;${plain(title).replaceAll(';', ',')};${plain(body)}${END}`;
  // Some terminals take a text that begins with a number for something else.
  return `${BELL}${OSC}9;Atrium: ${plain(body === '' ? title : `${title}: ${body}`)}${END}`;
}

/** Nothing of a session ends the sequence or begins another: everything invisible is spelled out. */
function plain(text: string): string {
  return printable(text.slice(0, TEXT_MAX_CHARACTERS));
}
