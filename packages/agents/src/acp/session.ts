/** A session with an agent behind a command, turn by turn. */
import type { ContentBlock, PromptCapabilities, PromptResponse } from '@agentclientprotocol/sdk';
import type { AgentOpenContext, AgentSession, AgentTurn } from '@atrium/core/contracts/agent.js';
import { systemClock } from '@atrium/core/util/clock.js';
import { promptText } from '@atrium/core/util/prompt-sections.js';
import { isRecord } from '@atrium/core/util/shape.js';
import { succeedsWithin, untilAborted } from '@atrium/core/util/waiting.js';
import type { Message, MessageAttachment } from '@atrium/protocol/ahp-1';
import { embeddedImages, isImage } from '../shared/messages.js';
import type { AcpAgentOptions, OfferedModels } from './backend.js';
import type { AcpConnection, AgentRequests } from './connection.js';
import { AcpTurn, showEnd } from './events.js';
import { readForAgent, writeForAgent } from './files.js';
import { RemoteSession, type Thread } from './remote-session.js';
import { CANCELLED } from './tool-calls.js';
import { AcpUsage } from './usage.js';

/** How long an agent may take to confirm that it stopped a turn; then its process ends. */
const CANCEL_GRACE_MS = 600;
/** How many reasons for denials are kept for the next prompt. */
const PENDING_REASONS_MAX = 20;

interface AcpOpening {
  readonly options: AcpAgentOptions;
  readonly context: AgentOpenContext;
  readonly offered: OfferedModels;
}

export class AcpSession implements AgentSession {
  readonly #options: AcpAgentOptions;
  readonly #remote: RemoteSession;
  readonly #usage: AcpUsage;
  #turn: AcpTurn | undefined;
  #pendingReasons: readonly string[] = [];
  /**
   * Settles when the last turn has ended, which for a cancelled turn takes a moment. The next turn waits for it, so
   * that they do not mix.
   */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(opening: AcpOpening) {
    this.#options = opening.options;
    this.#usage = new AcpUsage(opening.context.memory);
    this.#remote = new RemoteSession({ ...opening, requests: this.#requests(), turn: () => this.#turn?.turn });
  }

  static async open(opening: AcpOpening): Promise<AcpSession> {
    const session = new AcpSession(opening);
    await session.#remote.connected();
    return session;
  }

  runTurn(turn: AgentTurn): Promise<void> {
    const running = this.#last.then(() => this.#run(turn));
    this.#last = running.catch(() => {});
    return running;
  }

  async #run(turn: AgentTurn): Promise<void> {
    turn.signal.throwIfAborted();
    const running = new AcpTurn(turn, this.#usage);
    this.#turn = running;
    this.#usage.begin(turn);
    try {
      const { connection, thread } = await this.#ready(turn);
      this.#usage.works(thread.model?.current || undefined);
      const response = await this.#prompt(turn, connection, thread);
      await running.end();
      showEnd(turn, response, this.#options.displayName);
      // Not part of the protocol yet, but agents that count tokens already send it.
      if ('usage' in response && isRecord(response.usage)) this.#usage.ended(response.usage);
    } finally {
      const denials = running.denials.map((reason) => `In an earlier turn a call was denied: ${reason}`);
      this.#pendingReasons = [...this.#pendingReasons, ...denials].slice(-PENDING_REASONS_MAX);
      this.#turn = undefined;
    }
  }

  /**
   * Forgets the agent's session, because the protocol cannot cut history: the agent starts a new one, with the
   * remaining turns as text.
   */
  truncated(): Promise<void> {
    return this.#remote.forget();
  }

  close(): Promise<void> {
    return this.#remote.close();
  }

  async #ready(turn: AgentTurn): Promise<{ connection: AcpConnection; thread: Thread }> {
    try {
      return await untilAborted(turn.signal, this.#remote.opened(turn));
    } catch (error) {
      // The agent may be anywhere in opening its session.
      if (turn.signal.aborted) this.#remote.giveUp();
      throw error;
    }
  }

  async #prompt(turn: AgentTurn, connection: AcpConnection, thread: Thread): Promise<PromptResponse> {
    const sections = await untilAborted(turn.signal, turn.renderPrompt());
    const preface = promptText(sections);
    const content = {
      preface: preface === thread.preface ? undefined : preface,
      transcript: thread.transcript,
      pendingReasons: this.#pendingReasons,
      context: turn.context,
      message: turn.message,
    };
    const capabilities = connection.capabilities.promptCapabilities ?? {};
    const { length: unseen } = capabilities.image ? [] : embeddedImages(turn.message);
    if (unseen > 0 && !turn.soFar)
      turn.notify(
        `${this.#options.displayName} takes no pictures, and is only told that there ${unseen === 1 ? 'is one' : `are ${unseen}`}.`,
      );
    const prompt = promptBlocks(content, capabilities);
    const answered = connection.request((agent) => agent.request('session/prompt', { sessionId: thread.id, prompt }));
    try {
      const response = await untilAborted(turn.signal, answered);
      this.#touch(thread, preface);
      return response;
    } catch (error) {
      // After a failure the agent may not have read the prompt, so everything is sent again. If the turn was cancelled,
      // it has.
      if (turn.signal.aborted) {
        this.#touch(thread, preface);
        await this.#stop(connection, thread, answered);
      }
      throw error;
    }
  }

  #touch(thread: Thread, preface: string): void {
    this.#remote.markSent(thread, preface);
    this.#pendingReasons = [];
  }

  /** Asks the agent to stop; ends its process if it does not. */
  async #stop(connection: AcpConnection, { id: sessionId }: Thread, answered: Promise<unknown>): Promise<void> {
    connection.notify((agent) => agent.notify('session/cancel', { sessionId }));
    const settled = answered.catch(() => {});
    if (!(await succeedsWithin(systemClock, CANCEL_GRACE_MS, settled))) this.#remote.giveUp();
  }

  /** Answers the agent's requests in the running turn, and refuses them between turns. */
  #requests(): AgentRequests {
    const { fileTools } = this.#options;
    const turn = () => {
      if (!this.#turn) throw new Error('no turn is running');
      return this.#turn.turn;
    };
    return {
      update: (params) => {
        const isOurs = isRecord(params) && params.sessionId === this.#remote.thread?.id;
        if (!isOurs || !isRecord(params.update)) return undefined;
        if (params.update.sessionUpdate === 'config_option_update')
          this.#remote.settingsChanged(params.update.configOptions);
        this.#turn?.update(params.update);
        return this.#turn?.turn.caughtUp();
      },
      permission: async (request) => ({ outcome: (await this.#turn?.permission(request)) ?? CANCELLED }),
      ...(fileTools && {
        files: {
          read: async (request) => ({ content: await readForAgent(turn(), fileTools.read, request) }),
          write: (request) => writeForAgent(turn(), fileTools.write, request),
        },
      }),
    };
  }
}

/** A message, and the texts that go before it. */
export interface PromptContent {
  /** Instructions for this session; absent when the agent already has them. */
  readonly preface: string | undefined;
  /** The earlier turns, for an agent that does not know them. */
  readonly transcript: string | undefined;
  /** What the agent must still be told about earlier turns. */
  readonly pendingReasons: readonly string[];
  readonly context: readonly string[];
  readonly message: Message;
}

export function promptBlocks(content: PromptContent, capabilities: PromptCapabilities): ContentBlock[] {
  const { preface, transcript, pendingReasons, context, message } = content;
  const before = [
    preface && `Instructions for this session:\n\n${preface}`,
    transcript,
    ...pendingReasons,
    ...context.map((text) => `Context for the message below:\n\n${text}`),
  ];
  return [
    ...before.flatMap((text) => (text ? textBlock(text) : [])),
    textBlock(message.text),
    ...(message.attachments ?? []).map((attachment) => attachmentBlock(attachment, capabilities)),
  ];
}

function textBlock(text: string): ContentBlock {
  return { type: 'text', text };
}

/** An attachment in a form that the agent takes; every agent takes links. */
function attachmentBlock(attachment: MessageAttachment, { image }: PromptCapabilities): ContentBlock {
  if (attachment.type === 'simple') return textBlock(attachment.modelRepresentation ?? attachment.label);
  if (attachment.type === 'resource') return { type: 'resource_link', uri: attachment.uri, name: attachment.label };
  const isPicture = attachment.type === 'embeddedResource' && isImage(attachment.contentType);
  if (image && isPicture) return { type: 'image', data: attachment.data, mimeType: attachment.contentType };
  return textBlock(`[Attached] ${attachment.label}${isPicture ? ' (a picture, which you cannot be shown)' : ''}`);
}
