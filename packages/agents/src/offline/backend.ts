/**
 * The agent for newcomers without a connected model. It plays a script written as code: `phrases.ts` answers a handful
 * of phrases with the steps of the scripted agent, and runs real tools.
 */
import type { AgentBackend, AgentOpenContext, AgentSession, AgentTurn } from '@atrium/core/contracts/agent.js';
import { type Clock, systemClock } from '@atrium/core/util/clock.js';
import { playStep } from '../scripted/play.js';
import { SEVERAL_CHATS, sectionCatalogue } from '../shared/agent-info.js';
import { titleFrom } from '../shared/messages.js';
import { answerTo } from './phrases.js';

const PROVIDER = 'offline';
const CHUNKS_PER_SECOND = 40;
/** The usual rule of thumb; without a model, there are no tokens. */
const CHARACTERS_PER_TOKEN = 4;

export interface OfflineAgentOptions {
  readonly clock?: Clock;
  /** Milliseconds between two chunks of text. */
  readonly everyMs?: number;
}

export function offlineAgent(options: OfflineAgentOptions = {}): AgentBackend {
  const { clock = systemClock, everyMs = 1_000 / CHUNKS_PER_SECOND } = options;
  return {
    info: {
      provider: PROVIDER,
      displayName: 'Built-in, no model',
      description: 'Needs no key. Understands a few phrases and runs real tools; there is no model behind it.',
      models: [],
      capabilities: { multipleChats: SEVERAL_CHATS },
      systemMessageSections: sectionCatalogue(Object.keys(OFFLINE_SECTIONS)),
    },
    abilities: { tools: 'live', toolIntent: 'all', render: 'sections', steer: true, cancelTool: true },
    sections: OFFLINE_SECTIONS,
    open: async ({ history }) => new OfflineSession({ clock, everyMs }, history, (await history(1)).length > 0),
  };
}

class OfflineSession implements AgentSession {
  constructor(
    private readonly pace: { readonly clock: Clock; readonly everyMs: number },
    private readonly history: AgentOpenContext['history'],
    private isTitled: boolean,
  ) {}

  async runTurn(turn: AgentTurn): Promise<void> {
    this.giveTitle(turn);
    let received = 0;
    let sent = 0;
    const onDelta = (delta: string) => {
      sent += delta.length;
    };
    // A message that steers the turn is answered after the present answer.
    for (let text: string | undefined = turn.message.text; text !== undefined; text = turn.takeSteering()?.text) {
      received += text.length;
      const playing = { ...this.pace, turn, onDelta, index: 0 };
      for await (const step of answerTo(text, turn)) await playStep(step, playing);
    }
    turn.usage({ inputTokens: tokensIn(received), outputTokens: tokensIn(sent) });
  }

  async truncated(turnId: string | undefined): Promise<void> {
    if (turnId === undefined) this.isTitled = (await this.history(1)).length > 0;
  }

  async close(): Promise<void> {}

  private giveTitle(turn: AgentTurn): void {
    const title = titleFrom(turn.message.text);
    if (this.isTitled || title === '') return;
    this.isTitled = true;
    turn.title(title);
  }
}

function tokensIn(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

/**
 * No model reads this prompt. It lets people see what plugins, providers and clients do to a prompt: ask to "show the
 * prompt".
 */
export const OFFLINE_SECTIONS = {
  identity: "You are Atrium's offline agent. There is no model behind you; never pretend that there is.",
  tone: 'Be short, friendly and concrete.',
  tool_efficiency: 'One tool per request. Read only what was asked for.',
  environment_context: "You work in the session's folder, on the machine of the host.",
  code_change_rules: 'You change no files yourself. Commands that change something need the approval of a person.',
  guidelines: 'Show what a session can do. When a request needs a model, say so and offer what works.',
  safety: "Never run a command without a person's approval. Never read outside the session's folder.",
  tool_instructions: 'Use list_files, read_file, search_files and git_status freely; use shell only when asked to.',
  custom_instructions: 'Rules of the project, of plugins and of people follow here, if there are any.',
  runtime_instructions: 'Answer in Markdown. Say how a command ended.',
  last_instructions: 'End with one thing to try next.',
} as const;
