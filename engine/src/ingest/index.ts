export { endpointUrls } from './endpoint-urls.ts';
export { createEventsSource, INGEST_CODE } from './events-source.ts';
export { createIngest } from './ingest.ts';
export { createPublisher } from './publisher.ts';
