/**
 * What the fragments in the pages take for granted. They show one thing each, so they do not repeat how they came by
 * `client` or `token`. Add a name here only when a reader of the page would not miss it either.
 */
import type { Client, OpenSession, OpenSessionState, Subscription } from '@atrium/client';
import type { AgentBackend, Log } from '@atrium/host';

declare global {
  const url: string;
  const token: string;
  const uri: string;
  const client: Client;
  const opened: OpenSession;
  const session: Subscription<'session'>;
  const chat: Subscription<'chat'>;
  const port: MessagePort;
  function render(state: OpenSessionState): void;
  function showBanner(text: string): void;

  const apiKey: string;
  const modelId: string;
  const log: Log;
  const agents: AgentBackend[];
  function deployTheSite(signal: AbortSignal): Promise<void>;
  function isGreen(): Promise<boolean>;
}
