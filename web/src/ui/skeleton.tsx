/** Stands where rows will be, in their height, so that nothing moves when they come. */
export function SkeletonRows({ rows = 6 }: { rows?: number }) {
  return (
    <div role="status" aria-label="Loading" className="divide-y divide-line">
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} className="flex h-10 items-center gap-4 px-3 [animation:skeleton_1.4s_ease-in-out_infinite]">
          <span className="h-3 w-1/4 rounded bg-line" />
          <span className="h-3 w-1/3 rounded bg-line" />
          <span className="ml-auto h-3 w-16 rounded bg-line" />
        </div>
      ))}
    </div>
  );
}
