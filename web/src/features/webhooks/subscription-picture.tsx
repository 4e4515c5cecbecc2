import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { classNames } from '../../ui/class-names.ts';
import { Icon, type IconName } from '../../ui/icons.tsx';
import { type Column, layoutOf, type PlacedEdge, type PlacedNode } from './subscription-layout.ts';
import type { Subscription } from './webhook-queries.ts';

const ROW_PX = 48;
const NODE_PX = 36;
const GAP_PX = ROW_PX - NODE_PX;

interface Place {
  left: number;
  right: number;
  title: string;
  icon: IconName;
  to: '/sources/$id' | '/workflows/$id' | '/webhooks/$id';
}

/** In percent of the width. */
const COLUMNS: Record<Column, Place> = {
  0: { left: 0, right: 28, title: 'Sources', icon: 'source', to: '/sources/$id' },
  1: { left: 36, right: 64, title: 'Workflows', icon: 'workflow', to: '/workflows/$id' },
  2: { left: 72, right: 100, title: 'Webhooks', icon: 'webhook', to: '/webhooks/$id' },
};

interface SubscriptionPictureProps {
  subscriptions: readonly Subscription[];
  nameOf: (id: string) => string;
  /** Leaves out what has nothing to do with this end. */
  onOnly: (id: string) => void;
}

/** With more lines they are paler: those of one node stand out. */
const FEW_LINES = 60;

/** Lines from each emitter to its listeners. Those of the node under the pointer stand out. */
export function SubscriptionPicture({ subscriptions, nameOf, onOnly }: SubscriptionPictureProps) {
  const { nodes, edges, rows, between } = useMemo(() => layoutOf(subscriptions), [subscriptions]);
  const [chosen, setChosen] = useState<string>();
  const isChosen = ({ from, to }: PlacedEdge) => chosen === from.id || chosen === to.id;
  return (
    <div className="overflow-x-auto p-4">
      <div className="min-w-140">
        <div aria-hidden="true" className="relative h-6 text-xs text-ink-faint">
          {Object.values(COLUMNS).map(({ title, left }) => (
            <span key={title} className="absolute" style={{ left: `${left}%` }}>
              {title}
            </span>
          ))}
        </div>
        <div className="relative" style={{ height: rows * ROW_PX }}>
          <svg
            role="img"
            aria-label={`${edges.length} subscriptions: the table below lists them`}
            className="absolute inset-0 size-full"
            viewBox={`0 0 100 ${rows * ROW_PX}`}
            preserveAspectRatio="none"
          >
            {edges.map((edge) => (
              <path
                key={edge.subscription.id}
                d={lineOf(edge, between)}
                fill="none"
                vectorEffect="non-scaling-stroke"
                strokeWidth={isChosen(edge) ? 2 : 1.25}
                strokeDasharray={edge.subscription.filter === null ? undefined : '5 4'}
                className={classNames(
                  isChosen(edge)
                    ? 'stroke-accent'
                    : edges.length > FEW_LINES
                      ? 'stroke-line-strong'
                      : 'stroke-ink-faint',
                  chosen !== undefined && !isChosen(edge) && 'opacity-40',
                )}
              />
            ))}
          </svg>
          {nodes.map((node) => (
            <Node
              key={node.id}
              node={node}
              name={nameOf(node.id)}
              onChoose={(isOver) => setChosen(isOver ? node.id : undefined)}
              onOnly={() => onOnly(node.id)}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

const middleOf = ({ row }: PlacedNode) => row * ROW_PX + NODE_PX / 2;

/** To a column on the right, or around to the same or an earlier one. */
function lineOf({ from, to }: PlacedEdge, between: number): string {
  if (from.column === 0 && to.column === 2 && between > 0) return lineBetween(middleOf(from), middleOf(to), between);
  const start = COLUMNS[from.column].right;
  const isForward = to.column > from.column;
  const end = isForward ? COLUMNS[to.column].left : COLUMNS[to.column].right;
  const bend = isForward ? (end - start) / 2 : 6;
  const endBend = isForward ? end - bend : end + bend;
  return `M ${start} ${middleOf(from)} C ${start + bend} ${middleOf(from)}, ${endBend} ${middleOf(to)}, ${end} ${middleOf(to)}`;
}

/** From a source to a webhook, through the nearest gap between workflows: never behind one. */
function lineBetween(fromY: number, toY: number, between: number): string {
  const wantedY = (fromY + toY) / 2;
  const gap = Math.max(1, Math.round((wantedY + GAP_PX / 2) / ROW_PX));
  const y = gap > between ? wantedY : gap * ROW_PX - GAP_PX / 2;
  return `M 28 ${fromY} C 32 ${fromY}, 32 ${y}, 36 ${y} L 64 ${y} C 68 ${y}, 68 ${toY}, 72 ${toY}`;
}

interface NodeProps {
  node: PlacedNode;
  name: string;
  onChoose: (isOver: boolean) => void;
  onOnly: () => void;
}

function Node({ node: { id, column, row }, name, onChoose, onOnly }: NodeProps) {
  const { left, right, icon, to } = COLUMNS[column];
  const content = (
    <>
      <Icon name={icon} className="size-3.5 shrink-0 text-ink-faint" />
      <span className="truncate">{name}</span>
    </>
  );
  const look = 'flex h-full min-w-0 flex-1 items-center gap-2 pl-2.5';
  return (
    <div
      className="absolute flex items-center rounded-md border border-line-strong bg-surface text-sm hover:border-accent"
      style={{ left: `${left}%`, width: `${right - left}%`, top: row * ROW_PX, height: NODE_PX }}
      title={name}
      onMouseEnter={() => onChoose(true)}
      onMouseLeave={() => onChoose(false)}
      onFocus={() => onChoose(true)}
      onBlur={() => onChoose(false)}
    >
      {/* All sources or workflows, or the account itself: there is no page of one. */}
      {/^(dc|p|wh)_\w+$/.test(id) ? (
        <Link to={to} params={{ id }} className={look}>
          {content}
        </Link>
      ) : (
        <span className={look}>{content}</span>
      )}
      <button
        type="button"
        aria-label={`Only ${name}`}
        title="Only what has to do with it"
        className="h-full shrink-0 px-2 text-ink-faint hover:text-accent"
        onClick={onOnly}
      >
        <Icon name="search" className="size-3.5" />
      </button>
    </div>
  );
}
