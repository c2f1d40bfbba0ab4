/** Stands around the calls of a session, whoever runs them, and has recorded what they change. */
import type { Extension, GateCall } from '../../../core/contracts/extension.js';
import type { Session } from '../../../core/sessions/session.js';
import type { OwnRecordings } from './own-recordings.js';
import type { Recorder } from './recorder.js';

export interface RecordingParts {
  readonly session: Pick<Session, 'extensions' | 'state'>;
  readonly recorder: Recorder;
  readonly own: OwnRecordings;
}

export function recording({ session, recorder, own }: RecordingParts): Extension {
  return {
    id: 'changes',
    name: 'changes',
    beforeTurn: async ({ turnId }) => void (await own.turnBegins(turnId)),
    outsideCallBegins: async (call) => (onlyLooks(session, call) ? undefined : own.callBegins(call)),
    outsideCallEnds: (call) => own.callEnds(call),
    around: (call, run) => (onlyLooks(session, call) ? run() : recorder.around(call, run)),
  };
}

/** Whoever has the tool says so. */
function onlyLooks({ extensions, state }: RecordingParts['session'], { toolName }: GateCall): boolean {
  const ofHost = extensions.tools().map(({ definition }) => definition);
  const tool = [...ofHost, ...(state.activeClient?.tools ?? [])].find(({ name }) => name === toolName);
  return tool?.annotations?.readOnlyHint === true;
}
