/**
 * Plan mode of a session: tells the agent what the mode means, offers it a tool that ends planning with a plan, and
 * notes the mode in the turn. The plan is a question like any other: a person accepts it (and says in which mode the
 * work starts), edits it, or rejects it.
 */
import type { Extension } from '@atrium/core/contracts/extension.js';
import type { HostTool } from '@atrium/core/contracts/tool.js';
import { lastNote, noteOf } from '@atrium/core/sessions/noted-mode.js';
import type { Session } from '@atrium/core/sessions/session.js';
import type { SessionObserver } from '@atrium/core/sessions/session-observer.js';
import { isRecord } from '@atrium/core/util/shape.js';
import { MODE_LABELS, MODE_PROPERTY, modeChange, modeIn, PLAN_OPTIONS, PLAN_TOOL } from '@atrium/protocol/ahp-1';

const EXTENSION = 'atrium.permissions';

const PLAN_CONTEXT =
  'The session is in plan mode. Look at what you need with tools that only read; everything else is refused. Change nothing. ' +
  `When you know what to do, call ${PLAN_TOOL} with a plan that a person can judge: what you will change, in which files, in ` +
  'which order, and how you will check it. Work starts only once the person has accepted the plan.';

export function attachPlanMode(session: Session): SessionObserver {
  const mode = () => modeIn(session.state.config?.values);
  const tool = planTool(session);
  const extension: Extension = {
    id: EXTENSION,
    name: 'mode',
    get tools() {
      return mode() === 'plan' ? [tool] : [];
    },
    beforeTurn: async ({ chat }) => {
      const { turns = [] } = session.chats.find(({ uri }) => uri === chat)?.state ?? {};
      return advice(session.state.config?.values, lastNote(turns));
    },
    beforeWorker: async () => (mode() === 'plan' ? { context: PLAN_CONTEXT } : undefined),
  };
  let known = mode();
  return {
    // Before the agent opens; an unused session has no agent to offer tools to.
    begin: async () => session.extensions.set(extension),
    observe: ({ chat }) => {
      if (chat || mode() === known) return;
      known = mode();
      session.extensions.changed();
      for (const each of session.chats) if (each.state.activeTurn) each.notify(noteOf(known));
    },
    close: async () => session.extensions.remove(EXTENSION),
  };
}

/** Notes a mode where it changes. The setting of clients that do not know modes is not noted. */
function advice(values: Readonly<Record<string, unknown>> | undefined, noted: string) {
  const mode = modeIn(values);
  if (values?.[MODE_PROPERTY] !== mode) return undefined;
  const note = noteOf(mode);
  return { ...(note !== noted && { note }), ...(mode === 'plan' && { context: PLAN_CONTEXT }) };
}

function planTool(session: Session): HostTool {
  return {
    definition: {
      name: PLAN_TOOL,
      title: 'Present the plan',
      description:
        'Ends planning: shows the plan to a person, who accepts it, edits it or rejects it. Call it once, when nothing is open. ' +
        'Its result is the plan as it was accepted; then do exactly that.',
      inputSchema: {
        type: 'object',
        properties: { plan: { type: 'string', description: 'The plan, as Markdown.' } },
        required: ['plan'],
      },
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    displayName: 'Plan',
    invocationMessage: () => 'Present a plan',
    confirmation: () => ({
      title: 'Start the work with this plan?',
      editable: true,
      isForPerson: true,
      options: [
        { id: PLAN_OPTIONS.ask, label: 'Accept, and ask before changes', kind: 'approve' },
        { id: PLAN_OPTIONS['accept-edits'], label: 'Accept, and edit without asking', kind: 'approve' },
        { id: PLAN_OPTIONS.auto, label: 'Accept in auto mode', kind: 'approve' },
        { id: 'deny', label: 'Reject', kind: 'deny' },
      ],
    }),
    async run(input, { option }) {
      const plan = isRecord(input) && typeof input.plan === 'string' ? input.plan : '';
      const chosen = (['ask', 'accept-edits', 'auto'] as const).find((mode) => PLAN_OPTIONS[mode] === option) ?? 'ask';
      session.write({ type: 'session/configChanged', config: modeChange(chosen, session.state.config?.values) });
      const text = `The person accepted this plan. The session is in the mode "${MODE_LABELS[chosen]}" now. Start the work.\n\n${plan}`;
      return {
        success: true,
        pastTenseMessage: `Accepted the plan: ${MODE_LABELS[chosen]}`,
        content: [{ type: 'text', text }],
      };
    },
  };
}
