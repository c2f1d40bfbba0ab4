/** Which actions must survive a power cut: those that a person would not forgive losing. */
import type { StateAction } from '@atrium/protocol';

const FULL: ReadonlySet<string> = new Set([
  'session/ready',
  'session/turnStarted',
  'session/turnComplete',
  'session/turnCancelled',
  'session/error',
  'session/toolCallConfirmed',
  'session/toolCallComplete',
  'session/inputCompleted',
  'session/truncated',
]);

export function needsFullDurability(action: StateAction): boolean {
  return FULL.has(action.type);
}
