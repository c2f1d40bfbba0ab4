/** An agent that is a loop of our own around a model: three wire formats, and every step under the host's control. */
import type { AgentInfo } from '@atrium/protocol';
import type { AgentBackend } from '../../core/contracts/agent.js';
import { catalogueOf } from '../scripted/sections.js';
import { MODEL_SECTIONS } from './sections.js';

/** How the server is spoken to: chat completions of any server, OpenAI's responses, Anthropic's messages. */
export type ModelApi = 'openai-compatible' | 'openai' | 'anthropic';

export interface ModelInfo {
  readonly id: string;
  readonly name: string;
  /** In tokens. */
  readonly maxContextWindow?: number;
  /** Whether images can be sent to it; what is not known to see is only told their names. */
  readonly supportsVision?: boolean;
}

export interface ModelAgentOptions {
  /** The id under which clients choose this agent. */
  readonly provider: string;
  readonly displayName: string;
  readonly kind: ModelApi;
  /** Required for `openai-compatible`; the others have an address of their own. */
  readonly baseURL?: string;
  /** Without one, and without a `baseURL`, the provider's usual environment variable is used. */
  readonly apiKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The first one is the default. */
  readonly models: readonly ModelInfo[];
  /** Further attempts after a failure that may pass. */
  readonly retries?: number;
}

export function modelAgent(options: ModelAgentOptions): AgentBackend {
  if (options.kind === 'openai-compatible' && !options.baseURL) {
    throw new TypeError(`the agent ${options.provider} needs a baseURL, such as http://localhost:11434/v1`);
  }
  return {
    info: infoOf(options),
    abilities: { tools: 'live', toolIntent: 'all', render: 'sections', steer: true, cancelTool: true },
    sections: MODEL_SECTIONS,
    // Loaded with the first session: a host starts without what it may never need.
    open: async (context) => (await import('./session.js')).ModelSession.open(options, context),
  };
}

function infoOf({ provider, displayName, models }: ModelAgentOptions): AgentInfo {
  return {
    provider,
    displayName,
    description: 'Works with a model, the tools of the host and those of the active client.',
    models: models.map(({ id, name, maxContextWindow, supportsVision }) => ({
      id,
      provider,
      name,
      ...(maxContextWindow !== undefined && { maxContextWindow }),
      ...(supportsVision !== undefined && { supportsVision }),
    })),
    systemMessageSections: catalogueOf(MODEL_SECTIONS),
  };
}
