/**
 * The agent that a newcomer meets when no model is connected. It understands a handful of phrases, runs real tools, and
 * never pretends to be more.
 */

import type { AgentBackend, AgentOpenContext, AgentSession, AgentTurn } from '../../core/contracts/agent.js';
import { type Clock, systemClock } from '../../core/util/clock.js';
import { sectionCatalogue } from '../shared/agent-info.js';
import { titleFrom } from '../shared/prompt.js';
import { understand } from './intents.js';
import { OFFLINE_SECTIONS } from './sections.js';
import { OFFLINE_CHUNKS_PER_SECOND, Voice } from './voice.js';

export const OFFLINE_PROVIDER = 'offline';

export interface OfflineAgentOptions {
  readonly clock?: Clock;
  /** Between two chunks of text. */
  readonly everyMs?: number;
}

export function offlineAgent(options: OfflineAgentOptions = {}): AgentBackend {
  const pace = { clock: options.clock ?? systemClock, everyMs: options.everyMs ?? 1_000 / OFFLINE_CHUNKS_PER_SECOND };
  return {
    info: {
      provider: OFFLINE_PROVIDER,
      displayName: 'Built-in, no model',
      description: 'Needs no key. Understands a few phrases and runs real tools; there is no model behind it.',
      models: [],
      systemMessageSections: sectionCatalogue(Object.keys(OFFLINE_SECTIONS)),
    },
    abilities: { tools: 'live', toolIntent: 'all', render: 'sections', steer: true, cancelTool: true },
    sections: OFFLINE_SECTIONS,
    open: async (context) => new OfflineSession(await hasHistory(context), pace),
  };
}

async function hasHistory(context: AgentOpenContext): Promise<boolean> {
  return (await context.history(1)).length > 0;
}

class OfflineSession implements AgentSession {
  constructor(
    private titled: boolean,
    private readonly pace: { readonly clock: Clock; readonly everyMs: number },
  ) {}

  async runTurn(turn: AgentTurn): Promise<void> {
    this.giveTitle(turn);
    const voice = new Voice(turn, this.pace);
    let heard = 0;
    // Steering is answered in the same turn, as soon as the present answer is out.
    for (let text: string | undefined = turn.message.text; text !== undefined; text = turn.takeSteering()?.text) {
      heard += text.length;
      const { intent, rest } = understand(text);
      voice.think(intent.thought);
      await intent.answer(rest, { turn, voice });
    }
    turn.usage({ inputTokens: tokensIn(heard), outputTokens: tokensIn(voice.spoken) });
  }

  async truncated(turnId: string | undefined): Promise<void> {
    if (turnId === undefined) this.titled = false;
  }

  async close(): Promise<void> {}

  private giveTitle(turn: AgentTurn): void {
    const text = titleFrom(turn.message.text);
    if (this.titled || text === '') return;
    this.titled = true;
    turn.title(text);
  }
}

export const CHARACTERS_PER_TOKEN = 4;

/** There are no tokens without a model; this is the usual rule of thumb. */
function tokensIn(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}
