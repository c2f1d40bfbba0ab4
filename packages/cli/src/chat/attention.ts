/**
 * Tells the host whether the person looks at this chat, and calls the person when the host asks for it: with a bell,
 * and a
 * notification of the terminal. A terminal that reports its focus is believed. In any other, the chat counts as in view
 * for a
 * while after each key.
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

/** How long the chat counts as in view after a key, if the terminal does not report its focus. */
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
  /** Undefined until the terminal has reported its focus. */
  #isFocused: boolean | undefined;
  #wasTyped = true;
  #timer: NodeJS.Timeout | undefined;
  #reported = '';
  readonly #io = io();

  constructor(
    private readonly client: Client,
    private readonly session: string,
  ) {}

  /** The returned function ends this: then the chat is no longer in view. */
  follow(): () => void {
    const { client } = this;
    const offs = [
      client.onExtension(NOTIFIED_METHOD, (params) => this.#told(readNotificationMessage(params))),
      // The host knows nothing about a new connection: tell it again.
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

  /** Ignores failures: hosts of others do not know the method, and a lost host learns it when it is back. */
  #send(view: object): void {
    this.client.requestExtension(VIEW_METHOD, view).catch(() => {});
  }

  #told(message: NotificationMessage | undefined): void {
    if (message?.kind !== 'show' || message.session !== this.session) return;
    if (this.#isFocused === true || silenced.has(this.client)) return;
    this.#io.stdout.write(callFor(message, this.#io.env));
  }
}

/** A bell, and one notification in one of the two ways: a terminal that knows both would show two. */
export function callFor(
  { title, body = '' }: Pick<NotificationMessage, 'title' | 'body'>,
  env: Readonly<Record<string, string | undefined>>,
): string {
  const { TERM = '', VTE_VERSION } = env;
  if (VTE_VERSION !== undefined || /^(rxvt|foot)/.test(TERM))
    return `${BELL}${OSC}777;notify;${plain(title).replaceAll(';', ',')};${plain(body)}${END}`;
  // Some terminals take a text that begins with a number for another command.
  return `${BELL}${OSC}9;Atrium: ${plain(body === '' ? title : `${title}: ${body}`)}${END}`;
}

/** Spells out everything invisible, so that no text of a session ends the sequence or begins another. */
function plain(text: string): string {
  return printable(text.slice(0, TEXT_MAX_CHARACTERS));
}
