import { type AddressInfo, createServer } from 'node:net';
import type { DoctorReport } from '@headwater/engine';

type Check = DoctorReport['checks'][number];

const NAME = 'port';

/** Whether a node could listen there now. */
export function checkListenPort({ host, port }: { host: string; port: number }): Promise<Check> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(judge(error, `${host} port ${port}`)));
    server.listen(port, host, () => {
      const { address } = server.address() as AddressInfo;
      server.close(() => resolve({ name: NAME, status: 'ok', detail: `${address} port ${port} is free` }));
    });
  });
}

function judge({ code, message }: NodeJS.ErrnoException, where: string): Check {
  if (code !== 'EADDRINUSE') {
    return {
      name: NAME,
      status: 'fail',
      detail: message,
      costs: 'A node cannot listen there: set another HOST or PORT.',
    };
  }
  const costs = 'If it is this node, nothing. Otherwise the node cannot start: set another PORT.';
  return { name: NAME, status: 'warn', detail: `something listens on ${where}`, costs };
}
