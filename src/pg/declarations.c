/*
 * What raw.rs and version.rs declare by hand, once more in C and in the same order, behind the headers of the server that is
 * built for. The compiler refuses a declaration that differs from the header's, and a number that is not what it was.
 * Nothing of this file is linked.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/namespace.h"
#include "commands/async.h"
#include "commands/prepare.h"
#include "commands/sequence.h"
#include "commands/trigger.h"
#include "common/hashfn.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "optimizer/planner.h"
#include "parser/parse_param.h"
#include "postmaster/interrupt.h"
#include "storage/lmgr.h"
#include "tcop/tcopprot.h"
#include "tcop/utility.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/memutils.h"
#include "utils/portal.h"
#include "utils/snapmgr.h"
#include "utils/timeout.h"
#include "utils/timestamp.h"

StaticAssertDecl(ERRCODE_OUT_OF_MEMORY == 8389, "OUT_OF_MEMORY");

extern void die(int);
extern void StatementCancelHandler(int);
extern void SignalHandlerForConfigReload(int);

/* An enum travels as an int. */
StaticAssertDecl(sizeof(TimeoutId) == sizeof(int), "TimeoutId");
extern TimeoutId RegisterTimeout(TimeoutId, void (*)(void));
extern void enable_timeout_after(TimeoutId, int);
extern void enable_timeout_every(TimeoutId, TimestampTz, int);
extern void disable_timeout(TimeoutId, bool);
extern bool get_timeout_active(TimeoutId);

extern Oid GetUserId(void);
extern Oid GetSessionUserId(void);
extern Oid GetOuterUserId(void);
extern SubTransactionId GetCurrentSubTransactionId(void);
extern void SetUserIdAndSecContext(Oid userid, int sec_context);
extern TimestampTz GetCurrentTimestamp(void);

extern uint32 hash_bytes(const unsigned char *, int);

extern void ThrowErrorData(ErrorData *);
extern ErrorData *CopyErrorData(void);
extern int geterrcode(void);

extern void Async_UnlistenAll(void);
extern void DropAllPreparedStatements(void);
extern void PortalHashTableDeleteAll(void);
extern void ResetSequenceCaches(void);
extern void ResetTempTableNamespace(void);
extern void SetSessionAuthorization(Oid, bool);

extern void standard_ProcessUtility(PlannedStmt *, const char *, bool, ProcessUtilityContext, ParamListInfo,
									QueryEnvironment *, DestReceiver *, QueryCompletion *);
extern PlannedStmt *standard_planner(Query *, const char *, int, ParamListInfo);
extern void setup_parse_variable_parameters(ParseState *, Oid **, int *);

extern JsonbIteratorToken JsonbIteratorNext(JsonbIterator **, JsonbValue *, bool);
extern JsonbValue *pushJsonbValue(JsonbParseState **, JsonbIteratorToken, JsonbValue *);
extern Jsonb *JsonbValueToJsonb(JsonbValue *);

extern void LockRelationOid(Oid, LOCKMODE);
extern Relation table_open(Oid, LOCKMODE);
extern void table_close(Relation, LOCKMODE);
extern Relation index_open(Oid, LOCKMODE);
extern IndexInfo *BuildIndexInfo(Relation);
extern void *palloc(Size);
extern void *palloc0(Size);
extern List *lappend(List *, void *);
extern void MemoryContextReset(MemoryContext);
extern void PreventCommandIfReadOnly(const char *);
extern void PreventCommandIfParallelMode(const char *);
extern void CommandCounterIncrement(void);
extern CommandId GetCurrentCommandId(bool);
extern Snapshot GetTransactionSnapshot(void);
extern Snapshot RegisterSnapshot(Snapshot);
extern void UnregisterSnapshot(Snapshot);
extern EState *CreateExecutorState(void);
extern void FreeExecutorState(EState *);
extern void AfterTriggerBeginQuery(void);
extern void AfterTriggerEndQuery(EState *);
extern void InitResultRelInfo(ResultRelInfo *, Relation, Index, ResultRelInfo *, int);
extern void ExecCloseResultRelations(EState *);
extern void ExecResetTupleTable(List *, bool);
extern TupleTableSlot *ExecStoreVirtualTuple(TupleTableSlot *);
extern void ExecSimpleRelationInsert(ResultRelInfo *, EState *, TupleTableSlot *);

extern Datum numeric_in(FunctionCallInfo);
extern Datum numeric_out(FunctionCallInfo);
extern Datum jsonb_in(FunctionCallInfo);
extern Datum timestamptz_in(FunctionCallInfo);

/* spi/arg.rs */
StaticAssertDecl(MIN_TIMESTAMP == INT64CONST(-211813488000000000), "MIN_TIMESTAMP");
StaticAssertDecl(END_TIMESTAMP == INT64CONST(9223371331200000000), "END_TIMESTAMP");

/* version.rs */
StaticAssertDecl(STATEMENT_TIMEOUT == 3, "STATEMENT_TIMEOUT");
#if PG_VERSION_NUM < 170000
StaticAssertDecl(USER_TIMEOUT == 12, "USER_TIMEOUT");
#else
StaticAssertDecl(USER_TIMEOUT == 13, "USER_TIMEOUT");
#endif

#if PG_VERSION_NUM < 160000
extern AclResult pg_database_aclcheck(Oid, Oid, AclMode);
extern bool pg_database_ownercheck(Oid, Oid);
#else
extern AclResult object_aclcheck(Oid, Oid, Oid, AclMode);
extern bool object_ownercheck(Oid, Oid, Oid);
#endif
