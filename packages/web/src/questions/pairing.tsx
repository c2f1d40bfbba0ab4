/** A provider wants in: its user types the code that is shown here. */
import type { SessionInputRequest } from '@atrium/protocol';
import { useOpenSession } from '../host/context.js';
import { VisibleText } from '../ui/visible-text.js';

const CODE = /(\d{3})\s?(\d{3})\s*$/;

export function Pairing({ request }: { readonly request: SessionInputRequest }) {
  const session = useOpenSession();
  const message = request.message ?? '';
  const code = CODE.exec(message);
  const refuse = () => session.dispatch({ type: 'session/inputCompleted', requestId: request.id, response: 'decline' });
  return (
    <section className="ask" role="alert" aria-label="Pairing">
      <p>
        <VisibleText text={code ? message.slice(0, code.index).trim() : message} />
      </p>
      {code && (
        <p className="pairing-code" role="img" aria-label={`Code ${[...`${code[1]}${code[2]}`].join(' ')}`}>
          {code[1]} {code[2]}
        </p>
      )}
      <p className="hint">Only if you started it. The code is good for one try and a short while, then it goes away.</p>
      <div className="buttons">
        <button type="button" onClick={refuse}>
          Refuse
        </button>
      </div>
    </section>
  );
}
