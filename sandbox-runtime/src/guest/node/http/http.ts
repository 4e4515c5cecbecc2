import { NODE_FACTS } from '../node-facts.ts';
import type { RawRequests } from '../../raw-requests.ts';
import { notAvailable } from '../errors.ts';
import { Agent, HttpsAgent } from './agent.ts';
import { ClientRequest, OutgoingMessage } from './client-request.ts';
import { checkHeaderName, checkHeaderValue } from './header-rules.ts';
import { IncomingMessage } from './incoming-message.ts';

const { httpMethods: HTTP_METHODS, statusCodes: STATUS_CODES } = NODE_FACTS;

const NO_SERVERS = 'components are called through their $.interface.http';

function Server(): never {
  throw notAvailable('A server', NO_SERVERS);
}

function createServer(): never {
  throw notAvailable('A server', NO_SERVERS);
}

/** `http` and `https`: the client half. */
export function makeHttp(requests: RawRequests, protocol: 'http:' | 'https:'): Record<string, unknown> {
  const request = (...args: unknown[]): ClientRequest => new ClientRequest(requests, protocol, args);
  const get = (...args: unknown[]): ClientRequest => {
    const made = request(...args);
    made.end();
    return made;
  };
  const AgentClass = protocol === 'https:' ? HttpsAgent : Agent;
  const shared = {
    request,
    get,
    Agent: AgentClass,
    globalAgent: new AgentClass({ keepAlive: true, timeout: 5_000 }),
    Server,
    createServer,
  };
  if (protocol === 'https:') return shared;
  class Request extends ClientRequest {
    constructor(...args: unknown[]) {
      super(requests, protocol, args);
    }
  }
  Object.defineProperty(Request, 'name', { value: 'ClientRequest' });
  Object.defineProperty(Request, Symbol.hasInstance, { value: (value: unknown) => value instanceof ClientRequest });
  return {
    ...shared,
    METHODS: HTTP_METHODS,
    STATUS_CODES,
    ClientRequest: Request,
    IncomingMessage,
    OutgoingMessage,
    ServerResponse: class ServerResponse extends OutgoingMessage {},
    validateHeaderName: (name: unknown) => checkHeaderName(name),
    validateHeaderValue: (name: string, value: unknown) => checkHeaderValue(name, value),
    maxHeaderSize: 16_384,
    setMaxIdleHTTPParsers: () => undefined,
  };
}
