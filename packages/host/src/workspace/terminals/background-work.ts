/**
 * Commands that go on after their call, because a person put them into the background: their chat lists them until they end.
 * They end with the host; what a chat still lists of an earlier host is taken off its list when its session is opened.
 */
import type { Session } from '@atrium/core/sessions/session.js';
import { shorten } from '@atrium/core/util/text.js';
import type { ChatAction, ChatState } from '@atrium/protocol/ahp-1';
import type { Terminal } from './terminal.js';

/** What is told of a command. */
const COMMAND_MAX_CHARACTERS = 2_000;

export interface ListingChat {
  readonly state: ChatState;
  write(action: ChatAction): void;
}

export interface BackgroundWorkOptions {
  /** The chat, brought into memory; undefined when there is none any more. */
  openChat(uri: string): Promise<ListingChat | undefined>;
  /** Whether a program runs in the terminal with this URI. */
  isRunning(terminal: string): boolean;
}

interface Command {
  readonly chat: ListingChat & { readonly uri: string };
  readonly terminal: Pick<Terminal, 'uri' | 'state' | 'ended'>;
  readonly command: string;
  readonly startedAt: number;
}

export class BackgroundWork {
  constructor(private readonly options: BackgroundWorkOptions) {}

  /** Lists a command that goes on without its call, until it ends. */
  began({ chat, terminal, command, startedAt }: Command): void {
    const { uri: id, state } = terminal;
    chat.write({
      type: 'chat/backgroundWorkSet',
      work: {
        ...{ kind: 'shell', id, label: state.title, startedAt: new Date(startedAt).toISOString() },
        ...{ command: shorten(command, COMMAND_MAX_CHARACTERS), terminal: id },
      },
    });
    // The session may have left memory by then.
    void terminal.ended
      .then(() => this.options.openChat(chat.uri))
      .then((open) => open?.write({ type: 'chat/backgroundWorkRemoved', id }))
      .catch(() => {});
  }

  /** Takes off the lists of a session what does not run any more. */
  tidy({ chats }: Pick<Session, 'chats'>): void {
    for (const chat of chats) {
      for (const work of chat.state.backgroundWork ?? []) {
        const isOver = work.kind === 'shell' && 'terminal' in work && !this.options.isRunning(String(work.terminal));
        if (isOver) chat.write({ type: 'chat/backgroundWorkRemoved', id: work.id });
      }
    }
  }
}
