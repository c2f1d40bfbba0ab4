/** The usage of the last days: a picture, and a table, grouped as the person chooses. */
import {
  moneyText,
  USAGE_GROUPS,
  type UsageEntry,
  type UsageGroup,
  type UsageReport,
  type UsageTotals,
  usageCsv,
} from '@atrium/protocol/ahp-1';
import { useEffect, useId, useState } from 'react';
import { useHost } from '../host/context.js';
import { problemText } from '../host/problem.js';
import { useRoute } from '../host/router.js';
import { lastPart, pathOf, short } from '../model/format.js';
import { readUsage } from '../model/usage.js';
import { Dialog } from '../ui/dialog.js';
import { Budgets } from './budgets.js';
import { DaysPicture } from './days-picture.js';
import './usage.css';

const DAYS = 30;
const GROUP_WORDS: Readonly<Record<UsageGroup, string>> = {
  day: 'Day',
  session: 'Session',
  project: 'Project',
  agent: 'Agent',
  model: 'Model',
};

export function UsageDialog({ onClose }: { readonly onClose: () => void }) {
  const route = useRoute();
  const [by, setBy] = useState<UsageGroup>('day');
  const days = useReport('day');
  const shown = useReport(by);
  const id = useId();
  const problem = days.problem ?? shown.problem;
  return (
    <Dialog title="Usage" className="usage" onClose={onClose}>
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      {days.report && <DaysPicture report={days.report} days={DAYS} />}
      <div className="usage-choice">
        <label htmlFor={id}>Add up by</label>
        <select id={id} value={by} onChange={(event) => setBy(event.target.value as UsageGroup)}>
          {USAGE_GROUPS.map((group) => (
            <option key={group} value={group}>
              {GROUP_WORDS[group]}
            </option>
          ))}
        </select>
        {shown.report && (
          <button type="button" className="small" onClick={() => saveCsv(shown.report)}>
            Export CSV
          </button>
        )}
      </div>
      {shown.report && <UsageTable report={shown.report} />}
      {route.at === 'session' && <Budgets session={route.uri} />}
    </Dialog>
  );
}

interface Asked {
  readonly by?: UsageGroup;
  readonly report?: UsageReport;
  readonly problem?: string;
}

function useReport(by: UsageGroup): Asked {
  const { client } = useHost();
  const [asked, setAsked] = useState<Asked>({});
  useEffect(() => {
    let isOver = false;
    readUsage(client, { by, days: DAYS }).then(
      (report) => isOver || setAsked({ by, report }),
      (error) => isOver || setAsked({ by, problem: problemText(error) }),
    );
    return () => {
      isOver = true;
    };
  }, [client, by]);
  return asked.by === by ? asked : {};
}

const HEADS = ['In', 'Cached', 'Written', 'Out', 'Turns', 'Cost'] as const;

function UsageTable({ report }: { readonly report: UsageReport }) {
  const { by, entries, total, prices } = report;
  const ordered = by === 'day' ? entries.toReversed() : entries;
  if (entries.length === 0) return <p className="hint">Nothing was used yet.</p>;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the keyboard has to reach it */}
      <section className="usage-table" tabIndex={0} aria-label={`Usage by ${GROUP_WORDS[by].toLowerCase()}`}>
        <table>
          <thead>
            <tr>
              <th scope="col">{GROUP_WORDS[by]}</th>
              {HEADS.map((head) => (
                <th key={head} scope="col">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {ordered.map((entry) => (
              <tr key={entry.key}>
                <th scope="row" title={entry.key}>
                  {nameOf(by, entry)}
                </th>
                <Figures totals={entry} />
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr>
              <th scope="row">All</th>
              <Figures totals={total} />
            </tr>
          </tfoot>
        </table>
      </section>
      <p className="hint">{noteOf(report)}</p>
      {prices.own.length > 0 && <p className="hint">Your own prices: {prices.own.join(', ')}.</p>}
    </>
  );
}

function Figures({ totals }: { readonly totals: UsageTotals }) {
  const { input, cacheRead, cacheWrite, output, turns, cost } = totals;
  return (
    <>
      {[input, cacheRead, cacheWrite, output].map((count, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: always the same four
        <td key={index}>{short(count)}</td>
      ))}
      <td>{turns}</td>
      <td>{cost === undefined ? '–' : moneyText(cost)}</td>
    </>
  );
}

function nameOf(by: UsageGroup, { key, title }: UsageEntry): string {
  if (by === 'session') return title ?? 'A deleted session';
  if (by === 'project') return key === '' ? 'No folder' : lastPart(pathOf(key));
  return key === '' ? 'Not told' : key;
}

function noteOf({ by, total: { unpricedTokens }, prices }: UsageReport): string {
  const when = by === 'session' ? 'All time.' : `The last ${DAYS} days.`;
  const without = unpricedTokens > 0 ? ` ${short(unpricedTokens)} tokens have no price, or a plan pays.` : '';
  return `${when} US dollars, with prices of ${prices.date} (${prices.source}).${without}`;
}

function saveCsv(report: UsageReport | undefined): void {
  if (!report) return;
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([usageCsv(report)], { type: 'text/csv' }));
  link.download = `usage-by-${report.by}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1_000);
}
