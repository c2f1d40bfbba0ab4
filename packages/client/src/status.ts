/** What a user may know of the connection. */

export type Status =
  /** Dialling, or saying hello. `failures` counts the attempts in a row that came to nothing. */
  | { readonly at: 'connecting'; readonly failures: number }
  /**
   * `began` tells how: `initialize` anew, `replay` where the last connection ended, `snapshot` with states anew. After
   * anything but the first, tokens given with `authenticate` may have to be given again.
   */
  | { readonly at: 'open'; readonly began: 'initialize' | 'replay' | 'snapshot'; readonly protocolVersion: string }
  | { readonly at: 'waiting'; readonly failures: number; readonly delayMs: number; readonly error: Error }
  /** For good. `error` is set when not `close()` but the host ended it. */
  | { readonly at: 'closed'; readonly error?: Error };
