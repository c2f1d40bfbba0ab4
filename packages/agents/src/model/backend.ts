/** The host's own agent loop around a model. It speaks three wire formats and needs no other program. */

import type { AgentBackend } from '@atrium/core/contracts/agent.js';
import type { AgentInfo } from '@atrium/protocol/ahp-1';
import {
  type ModelInfo,
  optionSchema,
  publishedModel,
  SEVERAL_CHATS,
  SEVERAL_FOLDERS,
  sectionCatalogue,
} from '../shared/agent-info.js';
import { MODEL_SECTIONS } from './prompt.js';

/** The wire format: any server's chat completions, OpenAI's responses, or Anthropic's messages. */
export type ModelApi = 'openai-compatible' | 'openai' | 'anthropic';

export interface ModelAgentOptions {
  /** The id under which clients choose this agent. */
  readonly provider: string;
  readonly displayName: string;
  readonly kind: ModelApi;
  /** Required for `openai-compatible`; the others have default addresses. */
  readonly baseURL?: string;
  /** Without it, and without a `baseURL`, the provider's usual environment variable is used. */
  readonly apiKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The first one is the default. */
  readonly models: readonly ModelInfo[];
  /** Further attempts after a temporary failure. */
  readonly retries?: number;
  /** How long a server may say nothing: people are told after `noticeMs`, and the request is given up after `maxMs`. */
  readonly silence?: { readonly noticeMs: number; readonly maxMs: number };
  /** The model on the same server that assesses calls for the person who is asked; absent: no assessment. */
  readonly judgeModel?: string | undefined;
  /** The model on the same server that makes titles for sessions; absent: the one that answered. */
  readonly titleModel?: string | undefined;
}

export function modelAgent(options: ModelAgentOptions): AgentBackend {
  if (options.kind === 'openai-compatible' && !options.baseURL) {
    throw new TypeError(`the agent ${options.provider} needs a baseURL, such as http://localhost:11434/v1`);
  }
  const { judgeModel } = options;
  return {
    info: infoOf(options),
    abilities: {
      tools: 'live',
      toolIntent: 'all',
      render: 'sections',
      steer: true,
      cancelTool: true,
      resume: true,
      compacts: true,
    },
    sections: MODEL_SECTIONS,
    ...(judgeModel !== undefined && {
      judge: async (call, signal, spent) =>
        (await import('./side-requests.js')).judgeCall({ ...options, judgeModel }, call, { signal, spent }),
    }),
    titleFor: async (exchange, signal, spent) =>
      (await import('./side-requests.js')).titleOf(options, exchange, { signal, spent }),
    // Loaded when the host is idle, or with the first session: a host without this agent never loads it, and no host
    // starts slower.
    preload: async () => {
      const [{ loadFormat }] = await Promise.all([import('./request.js'), import('./session.js')]);
      await loadFormat(options.kind);
    },
    ...(options.kind === 'openai-compatible' && {
      standIn: async () => (await import('./stand-in.js')).startStandIn(options),
    }),
    open: async (context) => (await import('./session.js')).ModelSession.open(options, context),
  };
}

function infoOf({ provider, displayName, models }: ModelAgentOptions): AgentInfo {
  return {
    provider,
    displayName,
    description: 'Works with a model, the tools of the host and those of the active client.',
    models: models.map((model) => ({
      ...publishedModel(provider, model),
      ...optionSchema(model),
    })),
    systemMessageSections: sectionCatalogue(Object.keys(MODEL_SECTIONS)),
    capabilities: { multipleChats: SEVERAL_CHATS, multipleWorkingDirectories: SEVERAL_FOLDERS },
  };
}
