/** Whether the programs that a folder names may start. */
import type { SessionInputRequest } from '@atrium/protocol';
import { useOpenSession } from '../host/context.js';

export function Trust({ request }: { readonly request: SessionInputRequest }) {
  const session = useOpenSession();
  const [question = '', ...lines] = (request.message ?? '').split('\n');
  const programs = lines.filter((line) => line.startsWith('- ')).map((line) => line.slice(2));
  const rest = lines.filter((line) => !line.startsWith('- '));
  const answer = (response: 'accept' | 'decline') =>
    session.dispatch({ type: 'session/inputCompleted', requestId: request.id, response });
  return (
    <section className="ask" role="alert" aria-label="Trust">
      <p>
        <b>{question}</b>
      </p>
      <ul className="programs">
        {programs.map((program) => (
          <li key={program}>
            <code>{program}</code>
          </li>
        ))}
      </ul>
      <p className="hint">{rest.join(' ')}</p>
      <div className="buttons">
        <button type="button" className="primary" onClick={() => answer('accept')}>
          Trust this folder
        </button>
        <button type="button" onClick={() => answer('decline')}>
          Do not start them
        </button>
      </div>
    </section>
  );
}
