/** What a user may know of the connection. */

/** Where the provider stands, once the gateway has registered it. */
export interface Binding {
  /** Stable as long as the provider comes back in time. */
  readonly providerId: string;
  /** The session it is bound to; absent when it is bound to all. */
  readonly sessionId?: string;
  /** A folder for results that are too big to send; only for providers that the host has started. */
  readonly persistDir?: string;
  /** What the agent of the session cannot do for this provider, such as `gates:host-run` or `transforms:append`. */
  readonly degraded?: readonly string[];
}

export type ProviderState =
  /** Dialling, or showing the token. */
  | { readonly at: 'connecting'; readonly failures: number }
  /** Somebody has to type the code that the session shows. */
  | { readonly at: 'pairing'; readonly prompt: string }
  /** Let in, but there is no session to bind to yet. */
  | { readonly at: 'waiting-for-session' }
  | ({ readonly at: 'ready' } & Binding)
  /** The connection is lost, or was never there; the next attempt comes by itself. */
  | { readonly at: 'reconnecting'; readonly failures: number; readonly delayMs: number; readonly error: Error }
  /** For good. `error` is set when not `close()` ended it. */
  | { readonly at: 'closed'; readonly error?: Error };
