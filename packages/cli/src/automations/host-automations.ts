/** The automations of a host: finds them, changes them, and follows their runs. */

import { randomUUID } from 'node:crypto';
import type { Client, Subscription } from '@atrium/client';
import {
  AUTOMATIONS_CHANNEL,
  type AutomationDefinition,
  type AutomationEntry,
  type AutomationRunState,
  type AutomationState,
} from '@atrium/protocol/ahp-1';
import { hostName } from '../connect/with-client.js';
import { ExitCode, QuietExit, UsageError } from '../exit.js';
import { shortId } from '../sessions/find-session.js';
import { ago, folderOf, folderText } from '../sessions/summary-text.js';
import { printable } from '../text/printable.js';

const SHORT_CHARACTERS = 8;

export type Catalogue = Subscription<'automation'>;

/** The catalogue of a host; the caller closes it. */
export async function catalogueOf(client: Client): Promise<Catalogue> {
  if (!client.host.automations) throw new Error(`${hostName(client)} has no automations`);
  return client.subscribe(AUTOMATIONS_CHANNEL);
}

/** Finds an automation by its id, the beginning of it, or its title. */
export function findAutomation({ entries }: AutomationState, reference: string): AutomationEntry {
  const isNamed = ({ resource, definition }: AutomationEntry) =>
    resource === reference || idOf(resource) === reference || definition.title === reference;
  const exact = entries.filter(isNamed);
  const found = exact.length > 0 ? exact : entries.filter(({ resource }) => idOf(resource).startsWith(reference));
  const [first, ...more] = found;
  if (!first)
    throw new Error(`there is no automation "${printable(reference)}"; atrium automations list shows those there are`);
  if (more.length > 0)
    throw new UsageError(`${found.length} automations are called "${printable(reference)}": use the id`);
  return first;
}

/** Makes an automation, and resolves with its entry in the catalogue. */
export async function createAutomation(
  catalogue: Catalogue,
  definition: AutomationDefinition,
): Promise<AutomationEntry> {
  const resource = `ahp-automation:/${randomUUID()}`;
  await catalogue.dispatch({ type: 'automation/createRequested', resource, definition });
  for await (const { entries } of catalogue) {
    const made = entries.find((entry) => entry.resource === resource);
    if (made) return made;
  }
  throw new Error('the host ended before it had made the automation');
}

/** Switches an automation on or off. */
export async function switchAutomation(catalogue: Catalogue, entry: AutomationEntry, enabled: boolean): Promise<void> {
  const { resource, definition } = entry;
  await catalogue.dispatch({ type: 'automation/updateRequested', resource, definition: { ...definition, enabled } });
}

export async function startRun(client: Client, { resource }: AutomationEntry): Promise<string> {
  const params = { channel: AUTOMATIONS_CHANNEL, automation: resource, requestId: randomUUID() } as const;
  return (await client.request('runAutomation', params)).resource;
}

/** Stops the current run, and resolves when it is over. */
export async function cancelRun(client: Client, entry: AutomationEntry): Promise<AutomationRunState> {
  const active = runsOf(entry).find((run) => !isOver(run));
  if (!active) throw new Error(`no run of ${printable(entry.definition.title)} is going on`);
  const run = await client.subscribe(active.resource, { kind: 'automationRun' });
  await run.dispatch({ type: 'automationRun/cancelRequested' });
  return endOf(run);
}

/** Resolves when a run is over. */
export async function endOfRun(client: Client, run: string): Promise<AutomationRunState> {
  return endOf(await client.subscribe(run, { kind: 'automationRun' }));
}

async function endOf(run: Subscription<'automationRun'>): Promise<AutomationRunState> {
  for await (const state of run) {
    if (!isOver(state)) continue;
    run.close();
    return state;
  }
  throw new Error('the run is gone');
}

/** All runs that the host keeps of an automation, newest first. */
export async function allRunsOf(client: Client, catalogue: Catalogue, resource: string): Promise<AutomationRunState[]> {
  for (;;) {
    const entry = findAutomation(catalogue.state, resource);
    const { runsNextCursor: cursor } = entry;
    if (cursor === undefined) return runsOf(entry);
    await client.request('fetchAutomationRuns', { channel: AUTOMATIONS_CHANNEL, automation: resource, cursor });
    // The same cursor again: the host has no older runs.
    if (findAutomation(catalogue.state, resource).runsNextCursor === cursor) return runsOf(entry);
  }
}

/** Runs in the shape of Atrium's hosts; other hosts may send another one. */
export function runsOf({ runs }: AutomationEntry): AutomationRunState[] {
  return (runs as AutomationRunState[]).filter((run) => typeof run?.lifecycle?.status === 'string');
}

function isOver({ lifecycle }: AutomationRunState): boolean {
  return lifecycle.status !== 'pending' && lifecycle.status !== 'running';
}

/** A run that did not complete is a failure of the command that waited for it. */
export function checkOutcome({ lifecycle }: AutomationRunState): void {
  if (lifecycle.status !== 'completed') throw new QuietExit(ExitCode.Failed);
}

/** `next` in the time of this machine, without seconds: schedules have none. */
export function entryRow(entry: AutomationEntry, now: number): string[] {
  const { resource, definition, nextRunAt } = entry;
  const [last] = runsOf(entry);
  const lastText = last ? `${last.lifecycle.status} ${ago(last.lifecycle.createdAt, now)}` : 'never';
  const next = definition.enabled ? localTime(nextRunAt) || 'on an event' : 'off';
  return [
    ...[
      idOf(resource).slice(0, SHORT_CHARACTERS),
      definition.triggers.length === 0 && definition.enabled ? 'by hand' : next,
    ],
    ...[lastText, folderText(folderOf(definition.session)), printable(definition.title)],
  ];
}

export function runRow({ origin, lifecycle, primarySession }: AutomationRunState): string[] {
  const why = origin.kind === 'manual' ? 'by hand' : origin.catchUp ? 'made up for' : 'trigger';
  const error = lifecycle.error ? printable(lifecycle.error.message) : '';
  const session = primarySession === undefined ? '' : shortId(primarySession);
  return [localTime(lifecycle.createdAt), lifecycle.status, why, session, error];
}

export function localTime(at: string | undefined): string {
  const date = new Date(at ?? Number.NaN);
  if (Number.isNaN(date.getTime())) return '';
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16).replace('T', ' ');
}

export function idOf(uri: string): string {
  return uri.slice(uri.lastIndexOf('/') + 1);
}
