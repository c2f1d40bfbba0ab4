/** A bar for each of the last days: its cost, or its tokens if nothing has a price. The table has the numbers. */
import { moneyText, type UsageEntry, type UsageReport } from '@atrium/protocol/ahp-1';
import { useId } from 'react';
import { short } from '../model/format.js';

const WIDTH = 600;
const HEIGHT = 160;
const FLOOR = 28;
const HEAD = 26;
const GAP = 0.25;

interface Props {
  readonly report: UsageReport;
  readonly days: number;
}

interface Bar {
  readonly day: string;
  readonly value: number;
}

export function DaysPicture({ report, days }: Props) {
  const id = useId();
  const isMoney = report.total.cost !== undefined;
  const bars = daysUpTo(report.to ?? '', days).map((day) => barOf(day, report.entries, isMoney));
  const most = Math.max(0, ...bars.map(({ value }) => value));
  const text = (value: number) => (isMoney ? moneyText(value) : `${short(value)} tokens`);
  const peak = bars.find(({ value }) => value === most && most > 0);
  const room = HEIGHT - FLOOR - HEAD;
  const step = WIDTH / days;
  return (
    <figure className="usage-days">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-labelledby={id}>
        <title id={id}>{summaryOf(bars, text, peak)}</title>
        <line className="floor" x1="0" x2={WIDTH} y1={HEIGHT - FLOOR + 0.5} y2={HEIGHT - FLOOR + 0.5} />
        {bars.map(({ day, value }, index) => {
          const height = most === 0 ? 0 : Math.max(value > 0 ? 2 : 0, (value / most) * room);
          return (
            <rect
              key={day}
              className={day === peak?.day ? 'bar peak' : 'bar'}
              x={index * step + (step * GAP) / 2}
              y={HEIGHT - FLOOR - height}
              width={step * (1 - GAP)}
              height={height}
              rx="2"
            >
              <title>{`${dayText(day)}: ${text(value)}`}</title>
            </rect>
          );
        })}
        {peak && (
          <text x={(bars.indexOf(peak) + 0.5) * step} y={HEAD - 5} textAnchor={anchorOf(bars.indexOf(peak), days)}>
            {text(most)}
          </text>
        )}
        <text x="0" y={HEIGHT - 5}>
          {dayText(bars[0]?.day ?? '')}
        </text>
        <text x={WIDTH} y={HEIGHT - 5} textAnchor="end">
          {dayText(bars.at(-1)?.day ?? '')}
        </text>
      </svg>
      <figcaption>
        {isMoney ? 'Cost' : 'Tokens'} by day: {text(bars.reduce((sum, { value }) => sum + value, 0))} in {days} days
      </figcaption>
    </figure>
  );
}

/** Keeps the words at the edges inside the picture. */
function anchorOf(index: number, days: number): 'start' | 'middle' | 'end' {
  if (index < days / 10) return 'start';
  return index >= days - days / 10 ? 'end' : 'middle';
}

/** The picture in words, for people who cannot see it. */
function summaryOf(bars: readonly Bar[], text: (value: number) => string, peak: Bar | undefined): string {
  const all = bars.reduce((sum, { value }) => sum + value, 0);
  const used = bars.filter(({ value }) => value > 0).length;
  if (!peak) return `Nothing was used in the last ${bars.length} days.`;
  return `The last ${bars.length} days: ${text(all)} on ${used} of them, most on ${dayText(peak.day)} with ${text(peak.value)}.`;
}

function barOf(day: string, entries: readonly UsageEntry[], isMoney: boolean): Bar {
  const entry = entries.find(({ key }) => key === day);
  const value = !entry ? 0 : isMoney ? (entry.cost ?? 0) : entry.input + entry.output;
  return { day, value };
}

/** The days up to `last`. */
export function daysUpTo(last: string, days: number): readonly string[] {
  const [year = 1970, month = 1, day = 1] = last.split('-').map(Number);
  return Array.from({ length: days }, (_, index) =>
    new Date(Date.UTC(year, month - 1, day - days + 1 + index)).toISOString().slice(0, 10),
  );
}

/** A date such as 18 Nov. */
function dayText(day: string): string {
  const date = new Date(`${day}T00:00:00Z`);
  return Number.isNaN(date.getTime())
    ? ''
    : date.toLocaleDateString(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });
}
