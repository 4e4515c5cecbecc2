import { allowOnlyNeededCalls } from './install-filter.ts';
import { filterArch, SOCKET } from './syscalls.ts';

const AF_UNIX = 1;
const SOCK_STREAM = 1;
const arch = filterArch();

// Ends well where the filter can be installed here, and holds.
const syscall = allowOnlyNeededCalls(process.argv.at(-1) ?? '');
process.exitCode = arch !== undefined && syscall(SOCKET[arch], AF_UNIX, SOCK_STREAM, 0) === -1 ? 0 : 1;
