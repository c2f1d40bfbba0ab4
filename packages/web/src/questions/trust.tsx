/** The question whether the programs of a folder may start. */
import { useOpenSession } from '../host/context.js';
import { ReadBox, ReadingGate, useIsNew, useReadingGate } from '../parts/reading.js';
import { VisibleText } from '../ui/visible-text.js';
import type { OpenQuestion } from './open-questions.js';

export function Trust({ question: { request, chat } }: { readonly question: OpenQuestion }) {
  const session = useOpenSession();
  const { report, reading } = useReadingGate();
  const isNew = useIsNew(request.id);
  const answer = (response: 'accept' | 'decline') =>
    session.dispatchTo(chat, { type: 'chat/inputCompleted', requestId: request.id, response });
  const [question, ...blocks] = blocksOf(request.message ?? '');
  return (
    <section className="ask" role="alert" aria-label="Trust">
      <p>
        <b>
          <VisibleText text={question?.lines.join(' ') ?? ''} />
        </b>
      </p>
      <ReadingGate value={report}>
        {blocks.map(({ isQuoted, lines }) =>
          isQuoted ? (
            <ReadBox key={lines.join('\n')} label="Programs" lines={lines.length}>
              <ul className="programs">
                {lines.map((line, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: two lines may be the same, and they keep their place
                  <li key={index}>
                    <code>
                      <VisibleText text={line} />
                    </code>
                  </li>
                ))}
              </ul>
            </ReadBox>
          ) : (
            <p className="hint" key={lines.join('\n')}>
              <VisibleText text={lines.join(' ')} />
            </p>
          ),
        )}
      </ReadingGate>
      <div className="buttons">
        <button
          type="button"
          className="primary"
          disabled={isNew || reading !== 'read'}
          onClick={() => answer('accept')}
        >
          Trust this folder
        </button>
        <button type="button" onClick={() => answer('decline')}>
          Do not start them
        </button>
      </div>
    </section>
  );
}

interface Block {
  /** Text from the folder, which the host indents. */
  readonly isQuoted: boolean;
  readonly lines: readonly string[];
}

const QUOTED = /^ {4}/;

/** Splits the message at empty lines, which separate the host's words from quoted text. */
function blocksOf(message: string): readonly Block[] {
  const blocks = message.split(/\n(?:\n)+/).map((block) => block.split('\n').filter((line) => line !== ''));
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => ({
      isQuoted: lines.every((line) => QUOTED.test(line)),
      lines: lines.map((line) => line.replace(QUOTED, '')),
    }));
}
