--
-- PostgreSQL database dump
--


-- Dumped from database version 15.20 (Debian 15.20-0+deb12u1)
-- Dumped by pg_dump version 15.20 (Debian 15.20-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: workflow; Type: EXTENSION; Schema: -; Owner: -
--

CREATE EXTENSION IF NOT EXISTS workflow WITH SCHEMA public;


--
-- Name: EXTENSION workflow; Type: COMMENT; Schema: -; Owner: 
--

COMMENT ON EXTENSION workflow IS 'workflow engine: definitions, instances, bookmarks and triggers as tables';


--
-- Name: answered(jsonb); Type: FUNCTION; Schema: public; Owner: postgres
--

CREATE FUNCTION public.answered(context jsonb) RETURNS jsonb
    LANGUAGE sql
    AS $$ SELECT jsonb_build_object('outputs', jsonb_build_object('by', context -> 'input' -> 'by'), 'complete', true) $$;


ALTER FUNCTION public.answered(context jsonb) OWNER TO postgres;

--
-- Name: ask(jsonb); Type: FUNCTION; Schema: public; Owner: postgres
--

CREATE FUNCTION public.ask(context jsonb) RETURNS jsonb
    LANGUAGE sql
    AS $$ SELECT '{"bookmarks": [{"name": "Acme.Ask", "payload": {"office": 1}, "metadata": {"floor": 2}, "callback": "public.answered"}]}'::jsonb $$;


ALTER FUNCTION public.ask(context jsonb) OWNER TO postgres;

--
-- Name: bells(jsonb); Type: FUNCTION; Schema: public; Owner: postgres
--

CREATE FUNCTION public.bells(context jsonb) RETURNS SETOF jsonb
    LANGUAGE sql
    AS $$ SELECT '{"bell": 1}'::jsonb $$;


ALTER FUNCTION public.bells(context jsonb) OWNER TO postgres;

--
-- Name: ring(jsonb); Type: FUNCTION; Schema: public; Owner: postgres
--

CREATE FUNCTION public.ring(context jsonb) RETURNS jsonb
    LANGUAGE sql
    AS $$ SELECT '{"bookmarks": [{"name": "Acme.Bell", "payload": {"bell": 1}}]}'::jsonb WHERE NOT (context ->> 'isTrigger')::boolean
   UNION ALL SELECT '{}' WHERE (context ->> 'isTrigger')::boolean $$;


ALTER FUNCTION public.ring(context jsonb) OWNER TO postgres;

SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: notes; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.notes (
    what text NOT NULL
);


ALTER TABLE public.notes OWNER TO postgres;

--
-- Data for Name: notes; Type: TABLE DATA; Schema: public; Owner: postgres
--

COPY public.notes (what) FROM stdin;
\.


--
-- Data for Name: activity_types; Type: TABLE DATA; Schema: workflow; Owner: postgres
--

COPY workflow.activity_types (type, handler, handler_owner, kind, payloads, payloads_owner, inputs, outputs, outcomes, description, owner, created_at) FROM stdin;
Acme.Ask	public.ask	271536422	action	\N	\N	\N	[{"name": "by", "type": "String"}]	\N	\N	271536422	2026-11-23 19:53:24.295216+00
Acme.Bell	public.ring	271536422	trigger	public.bells	271536422	\N	\N	\N	\N	271536422	2026-11-23 19:53:24.296849+00
\.


--
-- Data for Name: bookmark_queue; Type: TABLE DATA; Schema: workflow; Owner: postgres
--

COPY workflow.bookmark_queue (id, shape, match_key, sender, attempts, created_at, expires_at, not_before, deferred_for, bookmark_id, instance_id, activity_instance_id, hash, name, correlation_id, uncorrelated, activity_type, activity_id, last_error, stimulus, input) FROM stdin;
01a209f8-6875-7000-8000-5e7b851d259b	160	4071388769733518392	271536422	0	2026-11-23 19:53:24.341086+00	2125-06-17 19:53:24.341086+00	\N	\N	\N	\N	\N	\N	\N	to-come	f	\N	kept	\N	\N	{"by": "early bird"}
\.


--
-- Data for Name: bookmarks; Type: TABLE DATA; Schema: workflow; Owner: postgres
--

COPY workflow.bookmarks (id, instance_id, activity_instance_id, hash_key, created_at, due_at, auto_burn, auto_complete, hash, activity_id, node_id, activity_type, name, correlation_id, callback, callback_owner, payload, metadata, attempts) FROM stdin;
01a209f8-685b-7000-8001-a5e0904cc0b8	01a209f8-685b-7000-8000-c4f64f9d1370	01a209f8-685b-7000-8000-c4f64f9d1372	-8700966495242961425	2026-11-23 19:53:24.315331+00	\N	t	t	\\x873ff5128077bdef78c71bd29ba4ef552645f085ee16e1f9806b92ed28a1f034	Event1	Workflow1:Sequence1:Event1	Elsa.Event	Elsa.Event	Event	\N	\N	{"EventName": "Go"}	\N	\N
01a209f8-685c-7000-8002-07f8b5963c99	01a209f8-685c-7000-8001-8bc7ea404873	01a209f8-685c-7000-8001-8bc7ea404871	\N	2026-11-23 19:53:24.316623+00	\N	t	t	\N	RunTask1	Workflow1:Sequence1:RunTask1	Elsa.RunTask	Elsa.RunTask	RunTask	\N	\N	{"TaskName": "Sign"}	\N	\N
01a209f8-685d-7000-8002-327f3c5233df	01a209f8-685d-7000-8001-f97c2298965c	01a209f8-685d-7000-8001-f97c2298965e	7554555231180160755	2026-11-23 19:53:24.317588+00	2026-11-23 19:53:24.318588+00	t	t	\\x68d72bf4fe8ffef34d18b1defe1f337e7866159d8824601f796d14347112d760	Delay1	Workflow1:Sequence1:Delay1	Elsa.Delay	Elsa.Delay	Delay	\N	\N	{"ResumeAt": "2026-11-23T19:53:24.318588+00:00"}	\N	\N
01a209f8-685f-7000-8001-664a5239e3f8	01a209f8-685f-7000-8000-b0d9deaeaf82	01a209f8-685f-7000-8000-b0d9deaeaf80	-2814987292716028854	2026-11-23 19:53:24.319502+00	2026-11-23 19:53:24.320689+00	t	t	\\xd8ef27f8c26c2c4a71a890359e044256228cd73fb3e3a02e7b3bfccfd5151aa4	StartAt1	Workflow1:Sequence1:StartAt1	Elsa.StartAt	Elsa.StartAt	StartAt	\N	\N	{"ExecuteAt": "2026-11-23T19:53:24.320689+00:00"}	\N	\N
01a209f8-6860-7000-8001-a1c0a34c408e	01a209f8-6860-7000-8000-b495b7753dc7	01a209f8-6860-7000-8000-b495b7753dc5	-4042885253039632776	2026-11-23 19:53:24.320234+00	2026-11-23 19:53:25.320234+00	t	t	\\xc7e4c94850e84e7824e22ac26c632c68a7426bc8978893386663be8dbfc91103	Timer1	Workflow1:Sequence1:Timer1	Elsa.Timer	Elsa.Timer	Timer	\N	\N	{"ResumeAt": "2026-11-23T19:53:25.320234+00:00"}	\N	\N
01a209f8-6860-7000-8004-1b436f13d49e	01a209f8-6860-7000-8003-5da1ab12d5e6	01a209f8-6860-7000-8003-5da1ab12d5e4	-9099130541945009583	2026-11-23 19:53:24.320608+00	2026-11-23 19:53:25+00	t	t	\\x81b964fb3a75ca516f5a29f790972f1bf3660137cab0f77b2581bb26c85ce09b	Cron1	Workflow1:Sequence1:Cron1	Elsa.Cron	Elsa.Cron	Cron	\N	\N	{"ExecuteAt": "2026-11-23T19:53:25+00:00", "CronExpression": "* * * * * *"}	\N	\N
01a209f8-6861-7000-8001-c195be1358fa	01a209f8-6861-7000-8000-65af2d1b8a4f	01a209f8-6861-7000-8000-65af2d1b8a4d	-991020432082167739	2026-11-23 19:53:24.321267+00	\N	t	t	\\xf23f302aec9698459aee72b2488a3d43cb7548bce848cf82bdd06507d6636969	HttpEndpoint1	Workflow1:Sequence1:HttpEndpoint1	Elsa.HttpEndpoint	Elsa.HttpEndpoint	HttpEndpoint	\N	\N	{"Path": "/sign", "Route": "sign/L|sign|sign|post", "Method": "post"}	\N	\N
01a209f8-6862-7000-8001-5a4e438897f0	01a209f8-6862-7000-8000-0fb74f37551c	01a209f8-6862-7000-8000-0fb74f37551e	4045290798226122057	2026-11-23 19:53:24.322332+00	2026-11-23 19:53:24.322332+00	t	t	\\x3823c28c516ca5494ed04f5bc98a28443e0c6855cd7b1b86c421cae6ef402836	ScheduledCommand1	Workflow1:Sequence1:ScheduledCommand1	Workflow.ScheduledCommand	Workflow.ScheduledCommand	ScheduledCommand	\N	\N	{"retry": false, "statement": "INSERT INTO public.notes VALUES ('command')"}	\N	\N
01a209f8-6863-7000-8001-8065f68c5a03	01a209f8-6863-7000-8000-c7cfec47e293	01a209f8-6863-7000-8000-c7cfec47e291	4115597930653620216	2026-11-23 19:53:24.323021+00	2026-11-23 19:53:24.323021+00	t	f	\\x391d8a8336f117f87a40278a25447ba5591f959edf75f76a8bcb77797d6e8fa4	Sql1	Workflow1:Sequence1:Sql1	Workflow.Sql	BackgroundActivity	BackgroundActivity	\N	\N	\N	\N	\N
01a209f8-6863-7000-8005-4f21af21ada8	01a209f8-6863-7000-8003-c5bb66f6572a	01a209f8-6863-7000-8003-c5bb66f65728	3338603279072009511	2026-11-23 19:53:24.323488+00	\N	t	t	\\x2e5519fe5f0a9d272cea1baab04000adf0957757d5c8b5d4fcbe28facc9de5ce	ExecuteWorkflow1	Workflow1:Sequence1:ExecuteWorkflow1	Elsa.ExecuteWorkflow	Elsa.ExecuteWorkflow	ExecuteWorkflow	\N	\N	{"ChildInstanceId": "01a209f8-6863-7000-8004-7d2e7ae6d8ad"}	\N	\N
01a209f8-6863-7000-8006-d8d34e0d754b	01a209f8-6863-7000-8004-7d2e7ae6d8ad	01a209f8-6863-7000-8004-7d2e7ae6d8ac	\N	2026-11-23 19:53:24.323488+00	\N	t	t	\N	ask	Workflow1:Sequence1:ask	Elsa.RunTask	Elsa.RunTask	\N	\N	\N	{"TaskName": "Child"}	\N	\N
01a209f8-6864-7000-8002-f735078143da	01a209f8-6864-7000-8000-f053c1a70349	01a209f8-6864-7000-8000-f053c1a7034b	-5797065431971861733	2026-11-23 19:53:24.324232+00	\N	t	t	\\xaf8cafb42b9eeb1bce82f6fe6770871144a9c01cf2cc57d2ee64ad0cce2b3668	DispatchWorkflow1	Workflow1:Sequence1:DispatchWorkflow1	Elsa.DispatchWorkflow	Elsa.DispatchWorkflow	DispatchWorkflow	\N	\N	{"ChildInstanceId": "01a209f8-6864-7000-8001-efbad448e2bd"}	\N	\N
01a209f8-6864-7000-8003-5b10ae717774	01a209f8-6864-7000-8001-efbad448e2bd	01a209f8-6864-7000-8001-efbad448e2bd	-9090673421434385384	2026-11-23 19:53:24.324232+00	2026-11-23 19:53:24.324232+00	t	t	\\x81d770b00a518c1895be4ac391c0b4dc5e75bedf53ed966edeb968cd7cf2a55f			Workflow.Start	Workflow.Start	\N	\N	\N	\N	{"trigger": ""}	\N
01a209f8-6864-7000-8006-5e668375dbdf	01a209f8-6864-7000-8005-b8d4e109ba24	01a209f8-6864-7000-8005-b8d4e109ba26	-5084006702717981728	2026-11-23 19:53:24.32479+00	\N	f	f	\\xb971fad710ca2be0f6cf860da437cf5dc3c5c8656c1c28c0ff3bc66c2d3ccb09	BulkDispatchWorkflows1	Workflow1:Sequence1:BulkDispatchWorkflows1	Elsa.BulkDispatchWorkflows	Elsa.BulkDispatchWorkflows	BulkDispatchWorkflows	\N	\N	{"ParentInstanceId": "01a209f8-6864-7000-8005-b8d4e109ba24"}	\N	\N
01a209f8-6864-7000-8009-26017d3cd408	01a209f8-6864-7000-8007-a43732d62fa7	01a209f8-6864-7000-8007-a43732d62fa7	-9090673421434385384	2026-11-23 19:53:24.32479+00	2026-11-23 19:53:24.32479+00	t	t	\\x81d770b00a518c1895be4ac391c0b4dc5e75bedf53ed966edeb968cd7cf2a55f			Workflow.Start	Workflow.Start	\N	\N	\N	\N	{"trigger": ""}	\N
01a209f8-6864-7000-800a-e4c11936f597	01a209f8-6864-7000-8008-63e13e7af3eb	01a209f8-6864-7000-8008-63e13e7af3eb	-9090673421434385384	2026-11-23 19:53:24.32479+00	2026-11-23 19:53:24.32479+00	t	t	\\x81d770b00a518c1895be4ac391c0b4dc5e75bedf53ed966edeb968cd7cf2a55f			Workflow.Start	Workflow.Start	\N	\N	\N	\N	{"trigger": ""}	\N
01a209f8-6865-7000-8002-8299a1f5e571	01a209f8-6865-7000-8001-a201c0e1c1be	01a209f8-6865-7000-8001-a201c0e1c1bc	655840952004442242	2026-11-23 19:53:24.325658+00	\N	t	t	\\x091a03defd60f8821c78a187d2aaf00edd4f6cdc78306dd5c49846cfd2d3da83	Ask1	Workflow1:Sequence1:Ask1	Acme.Ask	Acme.Ask	Acme.Ask	public.answered	271536422	{"office": 1}	{"floor": 2}	\N
01a209f8-6866-7000-8002-81f1b409b542	01a209f8-6866-7000-8001-f877405d0c5c	01a209f8-6866-7000-8001-f877405d0c5e	1764510379577796851	2026-11-23 19:53:24.326876+00	\N	t	t	\\x187cccd7693968f3edfac1e7ac9a5dfbdd106b561971844384577b0cec7b31c8	Bell1	Workflow1:Sequence1:Bell1	Acme.Bell	Acme.Bell	Acme.Bell	\N	\N	{"bell": 1}	\N	\N
01a209f8-6868-7000-8001-84ebc4cc5fd4	01a209f8-6868-7000-8000-02275affc71e	01a209f8-6868-7000-8000-02275affc71a	4856267244929732906	2026-11-23 19:53:24.328037+00	\N	t	t	\\x4364ed546466d12aca89c8e94bfd36c88a89b564051ba6baf14449e34f3ae29c	Event1	Workflow1:Sequence1:Part1:Workflow1:Sequence1:Event1	Elsa.Event	Elsa.Event	WorkflowDefinitionActivity	\N	\N	{"EventName": "Part"}	\N	\N
01a209f8-6868-7000-8004-fb0d90c7f093	01a209f8-6868-7000-8003-20a25d45242e	01a209f8-6868-7000-8003-20a25d45242a	-1363089811604987638	2026-11-23 19:53:24.328421+00	\N	t	t	\\xed155509ce54a10aba6f06f4da5c47257532420717871105fcb37c112f54c3f9	Event1	Workflow1:Sequence1:Composite1:Sequence2:Event1	Elsa.Event	Elsa.Event	Composite	\N	\N	{"EventName": "Inside"}	\N	\N
01a209f8-6868-7000-8007-8663ac1fecd1	01a209f8-6868-7000-8006-1913c289fc98	01a209f8-6868-7000-8006-1913c289fc9b	-1363089811604987638	2026-11-23 19:53:24.328944+00	\N	t	t	\\xed155509ce54a10aba6f06f4da5c47257532420717871105fcb37c112f54c3f9	Event1	Workflow1:Sequence1:If1:Event1	Elsa.Event	Elsa.Event	If	\N	\N	{"EventName": "Inside"}	\N	\N
01a209f8-6869-7000-8002-7932738a709c	01a209f8-6869-7000-8001-e9ac105c682d	01a209f8-6869-7000-8001-e9ac105c682e	-1363089811604987638	2026-11-23 19:53:24.329254+00	\N	t	t	\\xed155509ce54a10aba6f06f4da5c47257532420717871105fcb37c112f54c3f9	Event1	Workflow1:Sequence1:Switch1:Event1	Elsa.Event	Elsa.Event	Switch	\N	\N	{"EventName": "Inside"}	\N	\N
01a209f8-6869-7000-8005-df9a7d57ecb3	01a209f8-6869-7000-8004-3f54c8bd20e3	01a209f8-6869-7000-8004-3f54c8bd20e0	-1363089811604987638	2026-11-23 19:53:24.329718+00	\N	t	t	\\xed155509ce54a10aba6f06f4da5c47257532420717871105fcb37c112f54c3f9	Event1	Workflow1:Sequence1:While1:Event1	Elsa.Event	Elsa.Event	While	\N	\N	{"EventName": "Inside"}	\N	\N
01a209f8-686a-7000-8001-e93ba240606d	01a209f8-686a-7000-8000-724dabbfafc0	01a209f8-686a-7000-8000-724dabbfafc3	-1363089811604987638	2026-11-23 19:53:24.330089+00	\N	t	t	\\xed155509ce54a10aba6f06f4da5c47257532420717871105fcb37c112f54c3f9	Event1	Workflow1:Sequence1:For1:Event1	Elsa.Event	Elsa.Event	For	\N	\N	{"EventName": "Inside"}	\N	\N
01a209f8-686a-7000-8004-f629a3f67d09	01a209f8-686a-7000-8003-eb477fa54b81	01a209f8-686a-7000-8003-eb477fa54b82	-1363089811604987638	2026-11-23 19:53:24.330377+00	\N	t	t	\\xed155509ce54a10aba6f06f4da5c47257532420717871105fcb37c112f54c3f9	Event1	Workflow1:Sequence1:ForEach1:Event1	Elsa.Event	Elsa.Event	ForEach	\N	\N	{"EventName": "Inside"}	\N	\N
01a209f8-686a-7000-8007-0b3ecc41301c	01a209f8-686a-7000-8006-09a9cdcae28c	01a209f8-686a-7000-8006-09a9cdcae28f	-1363089811604987638	2026-11-23 19:53:24.330673+00	\N	t	t	\\xed155509ce54a10aba6f06f4da5c47257532420717871105fcb37c112f54c3f9	Event1	Workflow1:Sequence1:ParallelForEach1:Event1	Elsa.Event	Elsa.Event	ParallelForEach	\N	\N	{"EventName": "Inside"}	\N	\N
01a209f8-686a-7000-8008-fb6e89b92df5	01a209f8-686a-7000-8006-09a9cdcae28c	01a209f8-686a-7000-8006-09a9cdcae288	-1363089811604987638	2026-11-23 19:53:24.330673+00	\N	t	t	\\xed155509ce54a10aba6f06f4da5c47257532420717871105fcb37c112f54c3f9	Event1	Workflow1:Sequence1:ParallelForEach1:Event1	Elsa.Event	Elsa.Event	ParallelForEach	\N	\N	{"EventName": "Inside"}	\N	\N
01a209f8-686a-7000-800b-45d05eaabc64	01a209f8-686a-7000-800a-3e6326c34cc5	01a209f8-686a-7000-800a-3e6326c34cc6	-1363089811604987638	2026-11-23 19:53:24.330987+00	\N	t	t	\\xed155509ce54a10aba6f06f4da5c47257532420717871105fcb37c112f54c3f9	Event1	Workflow1:Sequence1:Parallel1:Event1	Elsa.Event	Elsa.Event	Parallel	\N	\N	{"EventName": "Inside"}	\N	\N
01a209f8-686a-7000-800c-d53fc59b7275	01a209f8-686a-7000-800a-3e6326c34cc5	01a209f8-686a-7000-800a-3e6326c34cc1	-8700966495242961425	2026-11-23 19:53:24.330987+00	\N	t	t	\\x873ff5128077bdef78c71bd29ba4ef552645f085ee16e1f9806b92ed28a1f034	Event2	Workflow1:Sequence1:Parallel1:Event2	Elsa.Event	Elsa.Event	Parallel	\N	\N	{"EventName": "Go"}	\N	\N
01a209f8-686b-7000-8002-4ca55f8d5a02	01a209f8-686b-7000-8001-f20c525fc547	01a209f8-686b-7000-8001-f20c525fc544	-1363089811604987638	2026-11-23 19:53:24.331293+00	\N	t	t	\\xed155509ce54a10aba6f06f4da5c47257532420717871105fcb37c112f54c3f9	Event1	Workflow1:Sequence1:Fork1:Event1	Elsa.Event	Elsa.Event	Fork	\N	\N	{"EventName": "Inside"}	\N	\N
01a209f8-686b-7000-8003-57195639a0f0	01a209f8-686b-7000-8001-f20c525fc547	01a209f8-686b-7000-8001-f20c525fc543	-838405163769365456	2026-11-23 19:53:24.331293+00	2029-08-19 19:53:24.331293+00	t	t	\\xf45d62f213ac7c309bf3ba81bad79ba6437156730280818ba947919b4a6c5963	Delay1	Workflow1:Sequence1:Fork1:Delay1	Elsa.Delay	Elsa.Delay	Fork	\N	\N	{"ResumeAt": "2029-08-19T19:53:24.331293+00:00"}	\N	\N
01a209f8-686c-7000-8001-ee8ea55a81a8	01a209f8-686c-7000-8000-954ec7e88047	01a209f8-686c-7000-8000-954ec7e88043	-1363089811604987638	2026-11-23 19:53:24.332008+00	\N	t	t	\\xed155509ce54a10aba6f06f4da5c47257532420717871105fcb37c112f54c3f9	a	Workflow1:Sequence1:Flowchart1:a	Elsa.Event	Elsa.Event	Flowchart	\N	\N	{"EventName": "Inside"}	\N	\N
01a209f8-686c-7000-8002-69087686fa40	01a209f8-686c-7000-8000-954ec7e88047	01a209f8-686c-7000-8000-954ec7e88042	\N	2026-11-23 19:53:24.332008+00	\N	t	t	\N	b	Workflow1:Sequence1:Flowchart1:b	Elsa.RunTask	Elsa.RunTask	Flowchart	\N	\N	{"TaskName": "Sign"}	\N	\N
01a209f8-686c-7000-8005-8a20d18018db	01a209f8-686c-7000-8004-526464304683	01a209f8-686c-7000-8004-526464304680	-1363089811604987638	2026-11-23 19:53:24.332844+00	\N	t	t	\\xed155509ce54a10aba6f06f4da5c47257532420717871105fcb37c112f54c3f9	a	Workflow1:Sequence1:Flowchart1:a	Elsa.Event	Elsa.Event	FlowchartTokens	\N	\N	{"EventName": "Inside"}	\N	\N
01a209f8-686d-7000-8001-09e86027b5ec	01a209f8-686d-7000-8000-e069f36196b2	01a209f8-686d-7000-8000-e069f36196b1	-1363089811604987638	2026-11-23 19:53:24.333304+00	\N	t	t	\\xed155509ce54a10aba6f06f4da5c47257532420717871105fcb37c112f54c3f9	Event1	Workflow1:Sequence1:StateMachine1:Event1	Elsa.Event	Elsa.Event	StateMachine	\N	\N	{"EventName": "Inside"}	\N	\N
01a209f8-6874-7000-8001-3b5302f1ed77	01a209f8-6874-7000-8000-509548d884f7	01a209f8-6874-7000-8000-509548d884f6	3916241601270271175	2026-11-23 19:53:24.340124+00	\N	t	t	\\x365948fcba524cc72aedb16dc6dfdf5698ec80b98d321ec77b92dcc2e9d57b0c	Event1	Workflow1:Sequence1:Event1	Elsa.Event	Elsa.Event	Singleton	\N	\N	{"EventName": "Single"}	\N	\N
01a209f8-687c-7000-8001-c1a6733f0024	01a209f8-687c-7000-8000-dee6e4e59a56	01a209f8-687c-7000-8000-dee6e4e59a57	6519142656413473659	2026-11-23 19:53:24.348398+00	\N	t	t	\\x5a78a5b4c39f1b7b11d72690c9f26678b7ab084999ee4c18905020e1c0e77a4e	Event1	Workflow1:Sequence1:Event1	Elsa.Event	Elsa.Event	Clerk	\N	\N	{"EventName": "Clerk"}	\N	\N
\.


--
-- Data for Name: dead_letters; Type: TABLE DATA; Schema: workflow; Owner: postgres
--

COPY workflow.dead_letters (id, reason, sender, attempts, created_at, dead_at, replayed_at, bookmark_id, instance_id, activity_instance_id, hash, name, correlation_id, uncorrelated, activity_type, activity_id, last_error, stimulus, input, due_at) FROM stdin;
01a2098a-8b49-7000-8000-71dbd47d6738	Expired	271536422	0	2026-11-23 17:53:24.297202+00	2026-11-23 19:53:24.300038+00	\N	\N	\N	\N	\N	\N	dead	f	\N	kept	\N	\N	\N	\N
\.


--
-- Data for Name: definitions; Type: TABLE DATA; Schema: workflow; Owner: postgres
--

COPY workflow.definitions (id, definition_id, version, name, description, is_latest, is_published, security, uses_sql, owner, retention, created_at, deleted_at, document, activity_type, links, search_path, unknown_types, numbering) FROM stdin;
01a209f8-6851-7000-8000-b99496fb0767	child	1	\N	\N	t	t	invoker	f	271536422	\N	2026-11-23 19:53:24.30506+00	\N	{"root": [{"id": "ask", "type": "RunTask", "taskName": "Child"}, {"type": "SetOutput", "outputName": "Result", "outputValue": {"js": "getOutputFrom('ask')"}}, {"type": "SetName", "value": "done"}], "outputs": [{"name": "Result"}], "definitionId": "child"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "ask"], [0, "SetOutput1"], [0, "SetName1"]], "connections": []}
01a209f8-6859-7000-8000-c278c04d9c49	part	1	Part	\N	t	t	invoker	f	271536422	\N	2026-11-23 19:53:24.313756+00	\N	{"name": "Part", "root": [{"type": "Event", "eventName": "Part"}], "options": {"usableAsActivity": true}, "definitionId": "part"}	Part	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "Event1"]], "connections": []}
01a209f8-685c-7000-8000-5714c48b07e2	RunTask	1	\N	\N	t	t	invoker	f	271536422	\N	2026-11-23 19:53:24.316255+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "RunTask", "result": {"var": "Answer"}, "payload": {"object": {"of": "Ada"}}, "taskName": "Sign"}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "RunTask"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "RunTask1"], [0, "SetName1"]], "connections": []}
01a209f8-685d-7000-8000-cb58328857b1	Delay	1	\N	\N	t	t	invoker	f	271536422	\N	2026-11-23 19:53:24.317312+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "Delay", "timeSpan": "00:00:00.001"}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "Delay"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "Delay1"], [0, "SetName1"]], "connections": []}
01a209f8-685d-7000-8003-68bcdd1046c1	StartAt	1	\N	\N	t	t	invoker	t	271536422	\N	2026-11-23 19:53:24.317978+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "StartAt", "dateTime": {"sql": "clock_timestamp() + interval '1 ms'"}}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "StartAt"}	\N	\N	public	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "StartAt1"], [0, "SetName1"]], "connections": []}
01a209f8-685f-7000-8002-10874bc84394	Timer	1	\N	\N	t	t	invoker	f	271536422	\N	2026-11-23 19:53:24.319952+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "Timer", "interval": "00:00:01"}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "Timer"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "Timer1"], [0, "SetName1"]], "connections": []}
01a209f8-6860-7000-8002-341d5db8f45b	Cron	1	\N	\N	t	t	invoker	f	271536422	\N	2026-11-23 19:53:24.320394+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "Cron", "cronExpression": "* * * * * *"}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "Cron"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "Cron1"], [0, "SetName1"]], "connections": []}
01a209f8-685a-7000-8000-ce3674c75ea5	Event	1	\N	\N	f	f	invoker	f	271536422	\N	2026-11-23 19:53:24.314963+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "Event", "result": {"var": "Answer"}, "eventName": "Go"}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "Event"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "Event1"], [0, "SetName1"]], "connections": []}
01a209f8-6860-7000-8005-2f14ada7caae	HttpEndpoint	1	\N	\N	t	t	invoker	f	271536422	\N	2026-11-23 19:53:24.320783+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"path": "sign", "type": "HttpEndpoint", "supportedMethods": ["POST"]}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "HttpEndpoint"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "HttpEndpoint1"], [0, "SetName1"]], "connections": []}
01a209f8-6861-7000-8002-10dee22f8d65	ScheduledCommand	1	\N	\N	t	t	invoker	t	271536422	\N	2026-11-23 19:53:24.321895+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "ScheduledCommand", "topLevel": true, "statement": "INSERT INTO public.notes VALUES ('command')"}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "ScheduledCommand"}	\N	\N	public	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "ScheduledCommand1"], [0, "SetName1"]], "connections": []}
01a209f8-6862-7000-8002-70b689848eec	BackgroundActivity	1	\N	\N	t	t	invoker	t	271536422	\N	2026-11-23 19:53:24.322516+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "Sql", "statement": "INSERT INTO public.notes VALUES ('background')", "runAsynchronously": true}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "BackgroundActivity"}	\N	\N	public	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "Sql1"], [0, "SetName1"]], "connections": []}
01a209f8-6863-7000-8002-324b458a148d	ExecuteWorkflow	1	\N	\N	t	t	invoker	f	271536422	\N	2026-11-23 19:53:24.323223+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "ExecuteWorkflow", "result": {"var": "Answer"}, "waitForCompletion": true, "workflowDefinitionId": "child"}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "ExecuteWorkflow"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "ExecuteWorkflow1"], [0, "SetName1"]], "connections": []}
01a209f8-6863-7000-8007-410f31cb316e	DispatchWorkflow	1	\N	\N	t	t	invoker	f	271536422	\N	2026-11-23 19:53:24.323938+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "DispatchWorkflow", "waitForCompletion": true, "workflowDefinitionId": "child"}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "DispatchWorkflow"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "DispatchWorkflow1"], [0, "SetName1"]], "connections": []}
01a209f8-6864-7000-8004-b1bd7c2bc71f	BulkDispatchWorkflows	1	\N	\N	t	t	invoker	f	271536422	\N	2026-11-23 19:53:24.324478+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "BulkDispatchWorkflows", "items": {"var": "Items"}, "waitForCompletion": true, "workflowDefinitionId": "child"}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "BulkDispatchWorkflows"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "BulkDispatchWorkflows1"], [0, "SetName1"]], "connections": []}
01a209f8-6865-7000-8000-85939743a1a8	Acme.Ask	1	\N	\N	t	t	invoker	t	271536422	\N	2026-11-23 19:53:24.325054+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"by": {"var": "Answer"}, "type": "Acme.Ask"}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "Acme.Ask"}	\N	\N	public	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "Ask1"], [0, "SetName1"]], "connections": []}
01a209f8-6866-7000-8000-54fb4d545217	Acme.Bell	1	\N	\N	t	t	invoker	t	271536422	\N	2026-11-23 19:53:24.326422+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "Acme.Bell"}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "Acme.Bell"}	\N	\N	public	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "Bell1"], [0, "SetName1"]], "connections": []}
01a209f8-6867-7000-8000-047af4e953aa	WorkflowDefinitionActivity	1	\N	\N	t	t	invoker	f	271536422	\N	2026-11-23 19:53:24.327243+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "Part"}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "WorkflowDefinitionActivity"}	\N	[{"type": "Part", "uses": "01a209f8-6859-7000-8000-c278c04d9c49"}]	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "Part1"], [0, "SetName1"], [2, "Sequence1"], [4, "Event1"]], "connections": []}
01a209f8-6868-7000-8002-9f7b6b1bf0cd	Composite	1	\N	\N	t	t	invoker	f	271536422	\N	2026-11-23 19:53:24.328157+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"root": [{"type": "Event", "eventName": "Inside"}], "type": "Composite"}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "Composite"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "Composite1"], [2, "Sequence2"], [3, "Event1"], [0, "SetName1"]], "connections": []}
01a209f8-6868-7000-8005-5394aa0867cf	If	1	\N	\N	t	t	invoker	f	271536422	\N	2026-11-23 19:53:24.328677+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"then": {"type": "Event", "eventName": "Inside"}, "type": "If", "condition": true}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "If"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "If1"], [2, "Event1"], [0, "SetName1"]], "connections": []}
01a209f8-6869-7000-8000-09585232ada2	Switch	1	\N	\N	t	t	invoker	f	271536422	\N	2026-11-23 19:53:24.329049+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "Switch", "cases": [{"label": "one", "activity": {"type": "Event", "eventName": "Inside"}, "condition": true}]}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "Switch"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "Switch1"], [2, "Event1"], [0, "SetName1"]], "connections": []}
01a209f8-6869-7000-8003-83e1966723ed	While	1	\N	\N	t	t	invoker	f	271536422	\N	2026-11-23 19:53:24.329357+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"body": {"type": "Event", "result": {"var": "Answer"}, "eventName": "Inside"}, "type": "While", "condition": {"js": "getAnswer() == null"}}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "While"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "While1"], [2, "Event1"], [0, "SetName1"]], "connections": []}
01a209f8-6869-7000-8006-79220ef09522	For	1	\N	\N	t	t	invoker	f	271536422	\N	2026-11-23 19:53:24.329845+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"end": 1, "body": {"type": "Event", "eventName": "Inside"}, "type": "For", "start": 1}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "For"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "For1"], [2, "Event1"], [0, "SetName1"]], "connections": []}
01a209f8-686a-7000-8002-f733cffa7ea5	ForEach	1	\N	\N	t	t	invoker	f	271536422	\N	2026-11-23 19:53:24.330188+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"body": {"type": "Event", "eventName": "Inside"}, "type": "ForEach", "items": ["only"]}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "ForEach"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "ForEach1"], [2, "Event1"], [0, "SetName1"]], "connections": []}
01a209f8-686a-7000-8005-a90b87e86589	ParallelForEach	1	\N	\N	t	t	invoker	f	271536422	\N	2026-11-23 19:53:24.330474+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"body": {"type": "Event", "eventName": "Inside"}, "type": "ParallelForEach", "items": {"var": "Items"}}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "ParallelForEach"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "ParallelForEach1"], [2, "Event1"], [0, "SetName1"]], "connections": []}
01a209f8-686a-7000-8009-85a92a4586d3	Parallel	1	\N	\N	t	t	invoker	f	271536422	\N	2026-11-23 19:53:24.330786+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "Parallel", "activities": [{"type": "Event", "eventName": "Inside"}, {"type": "Event", "eventName": "Go"}]}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "Parallel"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "Parallel1"], [2, "Event1"], [2, "Event2"], [0, "SetName1"]], "connections": []}
01a209f8-686b-7000-8000-1bf65a4f63a5	Fork	1	\N	\N	t	t	invoker	f	271536422	\N	2026-11-23 19:53:24.331085+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "Fork", "branches": [{"type": "Event", "eventName": "Inside"}, {"type": "Delay", "timeSpan": "1000.00:00:00"}], "joinMode": "WaitAny"}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "Fork"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "Fork1"], [2, "Event1"], [2, "Delay1"], [0, "SetName1"]], "connections": []}
01a209f8-686b-7000-8004-af441b1c7a81	Flowchart	1	\N	\N	t	t	invoker	f	271536422	\N	2026-11-23 19:53:24.331447+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "Flowchart", "activities": [{"id": "fork", "type": "FlowFork", "branches": ["a", "b"]}, {"id": "a", "type": "Event", "eventName": "Inside"}, {"id": "b", "type": "RunTask", "taskName": "Sign"}, {"id": "join", "mode": "WaitAll", "type": "FlowJoin"}], "connections": [["fork", "a", "a"], ["fork", "b", "b"], ["a", "join"], ["b", "join"]]}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "Flowchart"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "Flowchart1"], [2, "fork"], [2, "a"], [2, "b"], [2, "join"], [0, "SetName1"]], "connections": [[3, "a", 4], [3, "b", 5], [4, "Done", 6], [5, "Done", 6]]}
01a209f8-686c-7000-8003-82b117b193a2	FlowchartTokens	1	\N	\N	t	t	invoker	f	271536422	\N	2026-11-23 19:53:24.332479+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"mode": "TokenBased", "type": "Flowchart", "activities": [{"id": "a", "type": "Event", "eventName": "Inside"}, {"id": "b", "type": "RunTask", "taskName": "Sign"}], "connections": [["a", "b"]]}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "FlowchartTokens"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "Flowchart1"], [2, "a"], [2, "b"], [0, "SetName1"]], "connections": [[3, "Done", 4]]}
01a209f8-686c-7000-8006-4c6b205b0df3	StateMachine	1	\N	\N	t	t	invoker	f	271536422	\N	2026-11-23 19:53:24.332986+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "StateMachine", "states": ["Open", "Closed"], "transitions": [{"to": "Closed", "from": "Open", "trigger": {"type": "Event", "eventName": "Inside"}}]}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "StateMachine"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "StateMachine1"], [2, "Event1"], [0, "SetName1"]], "connections": []}
01a209f8-686e-7000-8000-765ca8821f9d	Faulted	1	\N	\N	t	t	invoker	t	271536422	\N	2026-11-23 19:53:24.334473+00	\N	{"root": [{"text": "before", "type": "WriteLine"}, {"type": "Sql", "statement": "SELECT 1 / count(*) FROM public.notes WHERE what = 'repaired'"}, {"type": "SetName", "value": "done"}], "variables": {"Items": ["a", "b"], "Answer": null}, "definitionId": "Faulted"}	\N	\N	public	\N	{"activities": [[null, "Sequence1"], [0, "WriteLine1"], [0, "Sql1"], [0, "SetName1"]], "connections": []}
01a209f8-6871-7000-8000-416a2855db16	alarm	1	\N	\N	t	t	invoker	f	271536422	\N	2026-11-23 19:53:24.337115+00	\N	{"root": [{"type": "Event", "eventName": "Alarm", "canStartWorkflow": true}, {"type": "SetName", "value": "done"}], "definitionId": "alarm"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "Event1"], [0, "SetName1"]], "connections": []}
01a209f8-6872-7000-8000-06ac3d010cc5	site	1	\N	\N	t	t	invoker	f	271536422	\N	2026-11-23 19:53:24.338496+00	\N	{"root": [{"path": "site/{page}", "type": "HttpEndpoint", "canStartWorkflow": true}, {"type": "WriteHttpResponse", "content": "Hello"}, {"type": "SetName", "value": "done"}], "definitionId": "site"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "HttpEndpoint1"], [0, "WriteHttpResponse1"], [0, "SetName1"]], "connections": []}
01a209f8-6873-7000-8000-bc7c92336e98	single	1	\N	\N	t	t	invoker	f	271536422	\N	2026-11-23 19:53:24.339739+00	\N	{"root": [{"type": "Event", "eventName": "Single"}, {"type": "SetName", "value": "done"}], "options": {"activationStrategy": "Singleton"}, "definitionId": "single"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "Event1"], [0, "SetName1"]], "connections": []}
01a209f8-6876-7000-8000-0ca4d26fb296	report	1	\N	\N	t	t	invoker	t	271536422	\N	2026-11-23 19:53:24.34203+00	\N	{"root": [{"type": "Sql", "statement": "INSERT INTO public.notes VALUES ('report')"}], "definitionId": "report"}	\N	\N	public	\N	{"activities": [[null, "Sequence1"], [0, "Sql1"]], "connections": []}
0183dd35-5876-7000-8001-8694bf221bec	Workflow.ScheduledCommand	1	Scheduled command	Runs the command of a schedule made by wf_schedule.	t	t	invoker	t	271536422	\N	2022-10-15 19:53:24.342826+00	\N	{"name": "Scheduled command", "root": {"id": "command", "type": "ScheduledCommand", "retry": {"input": "retry"}, "rowCount": {"output": "rows"}, "topLevel": {"input": "topLevel"}, "statement": {"input": "statement"}}, "outputs": [{"name": "rows", "type": "Int64"}], "description": "Runs the command of a schedule made by wf_schedule.", "definitionId": "Workflow.ScheduledCommand"}	\N	\N	\N	\N	{"activities": [[null, "command"]], "connections": []}
01a209f8-687b-7000-8000-84bd7b6bb885	clerk's	1	\N	\N	t	t	invoker	t	271536421	\N	2026-11-23 19:53:24.347558+00	\N	{"root": [{"type": "Event", "eventName": "Clerk"}, {"type": "Sql", "statement": "INSERT INTO public.notes VALUES (current_user)"}, {"type": "SetName", "value": "done"}], "definitionId": "clerk's"}	\N	\N	public	\N	{"activities": [[null, "Sequence1"], [0, "Event1"], [0, "Sql1"], [0, "SetName1"]], "connections": []}
01a209f8-687d-7000-8000-6ca4952b20c0	past	1	\N	\N	t	t	invoker	f	271536422	\N	2026-11-23 19:53:24.349634+00	\N	{"root": [{"type": "RunTask", "taskName": "Past"}, {"type": "SetName", "value": "done"}], "definitionId": "past"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"], [0, "RunTask1"], [0, "SetName1"]], "connections": []}
01a209f8-687f-7000-8000-a04a6587a812	Event	2	\N	\N	t	t	invoker	f	271536422	\N	2026-11-23 19:53:24.351593+00	\N	{"root": [], "definitionId": "Event"}	\N	\N	\N	\N	{"activities": [[null, "Sequence1"]], "connections": []}
\.


--
-- Data for Name: event_grants; Type: TABLE DATA; Schema: workflow; Owner: postgres
--

COPY workflow.event_grants (publisher, listener) FROM stdin;
271536422	271536421
\.


--
-- Data for Name: execution_log; Type: TABLE DATA; Schema: workflow; Owner: postgres
--

COPY workflow.execution_log (instance_id, seq, created_at, events) FROM stdin;
01a209f8-685b-7000-8000-c4f64f9d1370	0	2026-11-23 19:53:24.315331+00	\\x0206000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a0101010100000902064576656e7431054576656e7401020101a209f8685b70008001a5e0904cc0b8000200000000
01a209f8-685c-7000-8001-8bc7ea404873	0	2026-11-23 19:53:24.316623+00	\\x0206000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a01010101000009020852756e5461736b310752756e5461736b01020101a209f8685c7000800207f8b5963c99000200000000
01a209f8-685d-7000-8001-f97c2298965c	0	2026-11-23 19:53:24.317588+00	\\x0207000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a0101010100000f020644656c6179310544656c6179010200012a7b22526573756d654174223a22323032362d31312d32335431393a35333a32342e3331383538385a227d09010201020101a209f8685d70008002327f3c5233df000200000000
01a209f8-685f-7000-8000-b0d9deaeaf82	0	2026-11-23 19:53:24.319502+00	\\x0207000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a0101010100000f020853746172744174310753746172744174010200012b7b22457865637574654174223a22323032362d31312d32335431393a35333a32342e3332303638395a227d09010201020101a209f8685f70008001664a5239e3f8000200000000
01a209f8-6860-7000-8000-b495b7753dc7	0	2026-11-23 19:53:24.320234+00	\\x0207000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a0101010100000f020654696d6572310554696d6572010200012a7b22526573756d654174223a22323032362d31312d32335431393a35333a32352e3332303233345a227d09010201020101a209f8686070008001a1c0a34c408e000200000000
01a209f8-6860-7000-8003-5da1ab12d5e6	0	2026-11-23 19:53:24.320608+00	\\x0207000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a0101010100000f020543726f6e310443726f6e01020001437b2243726f6e45787072657373696f6e223a222a202a202a202a202a202a222c22457865637574654174223a22323032362d31312d32335431393a35333a32355a227d09010201020101a209f86860700080041b436f13d49e000200000000
01a209f8-6861-7000-8000-65af2d1b8a4f	0	2026-11-23 19:53:24.321267+00	\\x0206000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a01010101000009020d48747470456e64706f696e74310c48747470456e64706f696e7401020101a209f8686170008001c195be1358fa000200000000
01a209f8-6862-7000-8000-0fb74f37551c	0	2026-11-23 19:53:24.322332+00	\\x0206000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a0101010100000902115363686564756c6564436f6d6d616e6431105363686564756c6564436f6d6d616e6401020101a209f86862700080015a4e438897f0000200000000
01a209f8-6863-7000-8000-c7cfec47e293	0	2026-11-23 19:53:24.323021+00	\\x0206000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a01010101000009020453716c310353716c01020101a209f86863700080018065f68c5a03000200000000
01a209f8-6863-7000-8003-c5bb66f6572a	0	2026-11-23 19:53:24.323488+00	\\x0207000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a01010101000009021045786563757465576f726b666c6f77310f45786563757465576f726b666c6f7701020101a209f86863700080054f21af21ada800110102010200014e7b22646566696e6974696f6e5f6964223a226368696c64222c22696e7374616e63655f6964223a2230316132303966382d363836332d373030302d383030342d376432653761653664386164227d0200000000
01a209f8-6863-7000-8004-7d2e7ae6d8ad	0	2026-11-23 19:53:24.323488+00	\\x0204000000000007020953657175656e6365310853657175656e63650100000009020361736b0752756e5461736b01010101a209f8686370008006d8d34e0d754b000200000000
01a209f8-6864-7000-8000-f053c1a70349	0	2026-11-23 19:53:24.324232+00	\\x0207000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a0101010100000902114469737061746368576f726b666c6f7731104469737061746368576f726b666c6f7701020101a209f8686470008002f735078143da00110102010200014e7b22646566696e6974696f6e5f6964223a226368696c64222c22696e7374616e63655f6964223a2230316132303966382d363836342d373030302d383030312d656662616434343865326264227d0200000000
01a209f8-6864-7000-8005-b8d4e109ba24	0	2026-11-23 19:53:24.32479+00	\\x0208000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a01010101000009021642756c6b4469737061746368576f726b666c6f7773311542756c6b4469737061746368576f726b666c6f777301020101a209f86864700080065e668375dbdf00110102010200014e7b22646566696e6974696f6e5f6964223a226368696c64222c22696e7374616e63655f6964223a2230316132303966382d363836342d373030302d383030372d613433373332643632666137227d110102010200014e7b22646566696e6974696f6e5f6964223a226368696c64222c22696e7374616e63655f6964223a2230316132303966382d363836342d373030302d383030382d363365313365376166336562227d0200000000
01a209f8-6865-7000-8001-a201c0e1c1be	0	2026-11-23 19:53:24.325658+00	\\x0206000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a01010101000009020441736b310841636d652e41736b01020101a209f86865700080028299a1f5e571000200000000
01a209f8-6866-7000-8001-f877405d0c5c	0	2026-11-23 19:53:24.326876+00	\\x0206000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a01010101000009020542656c6c310941636d652e42656c6c01020101a209f868667000800281f1b409b542000200000000
01a209f8-6868-7000-8000-02275affc71e	0	2026-11-23 19:53:24.328037+00	\\x0208000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a0101010100000702055061727431045061727401020000070100010300000902064576656e7431054576656e7401040101a209f868687000800184ebc4cc5fd4000200000000
01a209f8-6868-7000-8003-20a25d45242e	0	2026-11-23 19:53:24.328421+00	\\x0208000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a01010101000007020a436f6d706f736974653109436f6d706f736974650102000007020953657175656e6365320853657175656e6365010300000902064576656e7431054576656e7401040101a209f8686870008004fb0d90c7f093000200000000
01a209f8-6868-7000-8006-1913c289fc98	0	2026-11-23 19:53:24.328944+00	\\x0207000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a010101010000070203496631024966010200000902064576656e7431054576656e7401030101a209f86868700080078663ac1fecd1000200000000
01a209f8-6869-7000-8001-e9ac105c682d	0	2026-11-23 19:53:24.329254+00	\\x0207000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a0101010100000702075377697463683106537769746368010200000902064576656e7431054576656e7401030101a209f86869700080027932738a709c000200000000
01a209f8-6869-7000-8004-3f54c8bd20e3	0	2026-11-23 19:53:24.329718+00	\\x0207000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a0101010100000702065768696c6531055768696c65010200000902064576656e7431054576656e7401030101a209f8686970008005df9a7d57ecb3000200000000
01a209f8-686a-7000-8000-724dabbfafc0	0	2026-11-23 19:53:24.330089+00	\\x0207000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a010101010000070204466f723103466f72010200000902064576656e7431054576656e7401030101a209f8686a70008001e93ba240606d000200000000
01a209f8-686a-7000-8003-eb477fa54b81	0	2026-11-23 19:53:24.330377+00	\\x0207000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a010101010000070208466f72456163683107466f7245616368010200000902064576656e7431054576656e7401030101a209f8686a70008004f629a3f67d09000200000000
01a209f8-686a-7000-8006-09a9cdcae28c	0	2026-11-23 19:53:24.330673+00	\\x0208000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a010101010000070210506172616c6c656c466f7245616368310f506172616c6c656c466f7245616368010200000902064576656e7431054576656e7401030101a209f8686a700080070b3ecc41301c0009010301040101a209f8686a70008008fb6e89b92df5000200000000
01a209f8-686a-7000-800a-3e6326c34cc5	0	2026-11-23 19:53:24.330987+00	\\x0208000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a010101010000070209506172616c6c656c3108506172616c6c656c010200000902064576656e7431054576656e7401030101a209f8686a7000800b45d05eaabc64000902064576656e7432054576656e7401040101a209f8686a7000800cd53fc59b7275000200000000
01a209f8-686b-7000-8001-f20c525fc547	0	2026-11-23 19:53:24.331293+00	\\x0209000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a010101010000070205466f726b3104466f726b010200000902064576656e7431054576656e7401030101a209f8686b700080024ca55f8d5a02000f020644656c6179310544656c6179010400012a7b22526573756d654174223a22323032392d30382d31395431393a35333a32342e3333313239335a227d09010401040101a209f8686b7000800357195639a0f0000200000000
01a209f8-686c-7000-8000-954ec7e88047	0	2026-11-23 19:53:24.332008+00	\\x0209000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a01010101000007020a466c6f7763686172743109466c6f776368617274010200000a0204666f726b08466c6f77466f726b01030001095b2261222c2262225d09020161054576656e7401040101a209f8686c70008001ee8ea55a81a800090201620752756e5461736b01050101a209f8686c7000800269087686fa40000200000000
01a209f8-686c-7000-8004-526464304683	0	2026-11-23 19:53:24.332844+00	\\x0207000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a01010101000007020a466c6f7763686172743109466c6f7763686172740102000009020161054576656e7401030101a209f8686c700080058a20d18018db000200000000
01a209f8-686d-7000-8000-e069f36196b2	0	2026-11-23 19:53:24.333304+00	\\x0208000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a0101010100000f020d53746174654d616368696e65310c53746174654d616368696e6501020001107b227374617465223a224f70656e227d070102010200000902064576656e7431054576656e7401030101a209f8686d7000800109e86027b5ec000200000000
01a209f8-686f-7000-8000-577b5cf08202	0	2026-11-23 19:53:24.335006+00	\\x0206000000000007020953657175656e6365310853657175656e6365010000000d020a57726974654c696e65310957726974654c696e650101000108226265666f7265220a0101010100000c020453716c310353716c01020001317b226d657373616765223a226469766973696f6e206279207a65726f222c2273716c7374617465223a223232303132227d0400000000
01a209f8-6874-7000-8000-509548d884f7	0	2026-11-23 19:53:24.340124+00	\\x0204000000000007020953657175656e6365310853657175656e6365010000000902064576656e7431054576656e7401010101a209f86874700080013b5302f1ed77000200000000
01a209f8-687c-7000-8000-dee6e4e59a56	0	2026-11-23 19:53:24.348398+00	\\x0204000000000007020953657175656e6365310853657175656e6365010000000902064576656e7431054576656e7401010101a209f8687c70008001c1a6733f0024000200000000
01a209f8-687d-7000-8001-32493d26d840	0	2026-11-23 19:53:24.349961+00	\\x0204000000000007020953657175656e6365310853657175656e63650100000009020852756e5461736b310752756e5461736b01010101a209f8687d70008002f45164c507b5000200000000
01a209f8-687d-7000-8001-32493d26d840	1	2026-11-23 19:53:24.350888+00	\\x0206010000000008020852756e5461736b310752756e5461736b01010101a209f8687d70008002f45164c507b5000a0100010100000a02085365744e616d6531075365744e616d65010200000a020953657175656e6365310853657175656e6365010000000300000000
\.


--
-- Data for Name: grants; Type: TABLE DATA; Schema: workflow; Owner: postgres
--

COPY workflow.grants (definition_id, role, privilege, grantor) FROM stdin;
alarm	271536421	start	271536422
alarm	271536421	read	271536422
\.


--
-- Data for Name: identity; Type: TABLE DATA; Schema: workflow; Owner: postgres
--

COPY workflow.identity (system_identifier, database) FROM stdin;
7711457457994930020	16384
\.


--
-- Data for Name: incidents; Type: TABLE DATA; Schema: workflow; Owner: postgres
--

COPY workflow.incidents (id, instance_id, activity_id, node_id, activity_type, activity_instance_id, created_at, resolved_at, sqlstate, message, detail, hint, context) FROM stdin;
01a209f8-686f-7000-8001-f85f88c1ab9f	01a209f8-686f-7000-8000-577b5cf08202	Sql1	Workflow1:Sequence1:Sql1	Workflow.Sql	01a209f8-686f-7000-8000-577b5cf08200	2026-11-23 19:53:24.335006+00	\N	22012	division by zero	\N	\N	SQL statement "SELECT 1 / count(*) FROM public.notes WHERE what = 'repaired'"
\.


--
-- Data for Name: instances; Type: TABLE DATA; Schema: workflow; Owner: postgres
--

COPY workflow.instances (id, definition_version_id, created_at, owner, version, definition_id, parent_instance_id, parent_bookmark_id, schedule_id, correlation_id, name, activation_key, input, status, sub_status, incident_count, updated_at, finished_at, state, variables, output) FROM stdin;
01a209f8-685b-7000-8000-c4f64f9d1370	01a209f8-685a-7000-8000-ce3674c75ea5	2026-11-23 19:53:24.315331+00	271536422	1	Event	\N	\N	\N	Event	\N	\N	{}	Running	Suspended	0	2026-11-23 19:53:24.315331+00	\N	\\x020200000000000000000001040202010000010000000000030100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209f8-685c-7000-8001-8bc7ea404873	01a209f8-685c-7000-8000-5714c48b07e2	2026-11-23 19:53:24.316623+00	271536422	1	RunTask	\N	\N	\N	RunTask	\N	\N	{}	Running	Suspended	0	2026-11-23 19:53:24.316623+00	\N	\\x0202000000000000000000010402020100000100000000000301010201067461736b4964110101a209f8685c7000800207f8b5963c99000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209f8-685d-7000-8001-f97c2298965c	01a209f8-685d-7000-8000-cb58328857b1	2026-11-23 19:53:24.317588+00	271536422	1	Delay	\N	\N	\N	Delay	\N	\N	{}	Running	Suspended	0	2026-11-23 19:53:24.317588+00	\N	\\x020200000000000000000001040202010000010000000000030100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209f8-685f-7000-8000-b0d9deaeaf82	01a209f8-685d-7000-8003-68bcdd1046c1	2026-11-23 19:53:24.319502+00	271536422	1	StartAt	\N	\N	\N	StartAt	\N	\N	{}	Running	Suspended	0	2026-11-23 19:53:24.319502+00	\N	\\x020200000000000000000001040202010000010000000000030100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209f8-6860-7000-8000-b495b7753dc7	01a209f8-685f-7000-8002-10874bc84394	2026-11-23 19:53:24.320234+00	271536422	1	Timer	\N	\N	\N	Timer	\N	\N	{}	Running	Suspended	0	2026-11-23 19:53:24.320234+00	\N	\\x020200000000000000000001040202010000010000000000030100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209f8-6860-7000-8003-5da1ab12d5e6	01a209f8-6860-7000-8002-341d5db8f45b	2026-11-23 19:53:24.320608+00	271536422	1	Cron	\N	\N	\N	Cron	\N	\N	{}	Running	Suspended	0	2026-11-23 19:53:24.320608+00	\N	\\x020200000000000000000001040202010000010000000000030100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209f8-6861-7000-8000-65af2d1b8a4f	01a209f8-6860-7000-8005-2f14ada7caae	2026-11-23 19:53:24.321267+00	271536422	1	HttpEndpoint	\N	\N	\N	HttpEndpoint	\N	\N	{}	Running	Suspended	0	2026-11-23 19:53:24.321267+00	\N	\\x020200000000000000000001040202010000010000000000030100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209f8-6862-7000-8000-0fb74f37551c	01a209f8-6861-7000-8002-10dee22f8d65	2026-11-23 19:53:24.322332+00	271536422	1	ScheduledCommand	\N	\N	\N	ScheduledCommand	\N	\N	{}	Running	Suspended	0	2026-11-23 19:53:24.322332+00	\N	\\x020200000000000000000001040202010000010000000000030100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209f8-6863-7000-8000-c7cfec47e293	01a209f8-6862-7000-8002-70b689848eec	2026-11-23 19:53:24.323021+00	271536422	1	BackgroundActivity	\N	\N	\N	BackgroundActivity	\N	\N	{}	Running	Suspended	0	2026-11-23 19:53:24.323021+00	\N	\\x020200000000000000000001040202010000010000000007030100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209f8-6863-7000-8003-c5bb66f6572a	01a209f8-6863-7000-8002-324b458a148d	2026-11-23 19:53:24.323488+00	271536422	1	ExecuteWorkflow	\N	\N	\N	ExecuteWorkflow	\N	\N	{}	Running	Suspended	0	2026-11-23 19:53:24.323488+00	\N	\\x020200000000000000000001040202010000010000000000030100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209f8-6863-7000-8004-7d2e7ae6d8ad	01a209f8-6851-7000-8000-b99496fb0767	2026-11-23 19:53:24.323488+00	271536422	1	child	01a209f8-6863-7000-8003-c5bb66f6572a	01a209f8-6863-7000-8005-4f21af21ada8	\N	\N	\N	\N	{"ParentInstanceId": "01a209f8-6863-7000-8003-c5bb66f6572a"}	Running	Suspended	0	2026-11-23 19:53:24.323488+00	\N	\\x0202000000000000000000010201010100000100000000000201010101067461736b4964110101a209f8686370008006d8d34e0d754b000000	{}	\N
01a209f8-6864-7000-8000-f053c1a70349	01a209f8-6863-7000-8007-410f31cb316e	2026-11-23 19:53:24.324232+00	271536422	1	DispatchWorkflow	\N	\N	\N	DispatchWorkflow	\N	\N	{}	Running	Suspended	0	2026-11-23 19:53:24.324232+00	\N	\\x020200000000000000000001040202010000010000000000030100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209f8-6864-7000-8001-efbad448e2bd	01a209f8-6851-7000-8000-b99496fb0767	2026-11-23 19:53:24.324232+00	271536422	1	child	01a209f8-6864-7000-8000-f053c1a70349	01a209f8-6864-7000-8002-f735078143da	\N	\N	\N	\N	{"ParentInstanceId": "01a209f8-6864-7000-8000-f053c1a70349"}	Running	Pending	0	2026-11-23 19:53:24.324232+00	\N	\\x0200000000000000	{}	\N
01a209f8-6864-7000-8005-b8d4e109ba24	01a209f8-6864-7000-8004-b1bd7c2bc71f	2026-11-23 19:53:24.32479+00	271536422	1	BulkDispatchWorkflows	\N	\N	\N	BulkDispatchWorkflows	\N	\N	{}	Running	Suspended	0	2026-11-23 19:53:24.32479+00	\N	\\x02020000000000000000000104020201000001000000000104030100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209f8-6864-7000-8007-a43732d62fa7	01a209f8-6851-7000-8000-b99496fb0767	2026-11-23 19:53:24.32479+00	271536422	1	child	01a209f8-6864-7000-8005-b8d4e109ba24	01a209f8-6864-7000-8006-5e668375dbdf	\N	\N	\N	\N	{"Item": "a", "ParentInstanceId": "01a209f8-6864-7000-8005-b8d4e109ba24"}	Running	Pending	0	2026-11-23 19:53:24.32479+00	\N	\\x0200000000000000	{}	\N
01a209f8-6864-7000-8008-63e13e7af3eb	01a209f8-6851-7000-8000-b99496fb0767	2026-11-23 19:53:24.32479+00	271536422	1	child	01a209f8-6864-7000-8005-b8d4e109ba24	01a209f8-6864-7000-8006-5e668375dbdf	\N	\N	\N	\N	{"Item": "b", "ParentInstanceId": "01a209f8-6864-7000-8005-b8d4e109ba24"}	Running	Pending	0	2026-11-23 19:53:24.32479+00	\N	\\x0200000000000000	{}	\N
01a209f8-6865-7000-8001-a201c0e1c1be	01a209f8-6865-7000-8000-85939743a1a8	2026-11-23 19:53:24.325658+00	271536422	1	Acme.Ask	\N	\N	\N	Acme.Ask	\N	\N	{}	Running	Suspended	0	2026-11-23 19:53:24.325658+00	\N	\\x020200000000000000000001040202010000010000000000030100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209f8-6866-7000-8001-f877405d0c5c	01a209f8-6866-7000-8000-54fb4d545217	2026-11-23 19:53:24.326876+00	271536422	1	Acme.Bell	\N	\N	\N	Acme.Bell	\N	\N	{}	Running	Suspended	0	2026-11-23 19:53:24.326876+00	\N	\\x020200000000000000000001040202010000010000000000030100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209f8-6868-7000-8000-02275affc71e	01a209f8-6867-7000-8000-047af4e953aa	2026-11-23 19:53:24.328037+00	271536422	1	WorkflowDefinitionActivity	\N	\N	\N	WorkflowDefinitionActivity	\N	\N	{}	Running	Suspended	0	2026-11-23 19:53:24.328037+00	\N	\\x0204000000000000000000010402020100000000000000000304010200000000000001020405010300010000000000050100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209f8-6868-7000-8003-20a25d45242e	01a209f8-6868-7000-8002-9f7b6b1bf0cd	2026-11-23 19:53:24.328421+00	271536422	1	Composite	\N	\N	\N	Composite	\N	\N	{}	Running	Suspended	0	2026-11-23 19:53:24.328421+00	\N	\\x0204000000000000000000010402020100000000000000000303010200000000000001020404010300010000000000050100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209f8-6868-7000-8006-1913c289fc98	01a209f8-6868-7000-8005-5394aa0867cf	2026-11-23 19:53:24.328944+00	271536422	1	If	\N	\N	\N	If	\N	\N	{}	Running	Suspended	0	2026-11-23 19:53:24.328944+00	\N	\\x0203000000000000000000010402020100000000000000000303010200010000000000040101020106726573756c7404747275650102000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209f8-6869-7000-8001-e9ac105c682d	01a209f8-6869-7000-8000-09585232ada2	2026-11-23 19:53:24.329254+00	271536422	1	Switch	\N	\N	\N	Switch	\N	\N	{}	Running	Suspended	0	2026-11-23 19:53:24.329254+00	\N	\\x0203000000000000000000010402020100000000000000010203030102000100000000000401010201066f757470757405226f6e6522000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209f8-6869-7000-8004-3f54c8bd20e3	01a209f8-6869-7000-8003-83e1966723ed	2026-11-23 19:53:24.329718+00	271536422	1	While	\N	\N	\N	While	\N	\N	{}	Running	Suspended	0	2026-11-23 19:53:24.329718+00	\N	\\x0203000000000000000000010402020100000000000000000303010200010000000000040100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209f8-686a-7000-8000-724dabbfafc0	01a209f8-6869-7000-8006-79220ef09522	2026-11-23 19:53:24.330089+00	271536422	1	For	\N	\N	\N	For	\N	\N	{}	Running	Suspended	0	2026-11-23 19:53:24.330089+00	\N	\\x02030000000000000000000104020201000000000000000202020201030301020001000000010c43757272656e7456616c756501310004010102010c63757272656e7456616c75650131000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209f8-686a-7000-8003-eb477fa54b81	01a209f8-686a-7000-8002-f733cffa7ea5	2026-11-23 19:53:24.330377+00	271536422	1	ForEach	\N	\N	\N	ForEach	\N	\N	{}	Running	Suspended	0	2026-11-23 19:53:24.330377+00	\N	\\x02030000000000000000000104020201000000000000000100030301020001000000020c43757272656e7456616c756506226f6e6c79220c43757272656e74496e64657801300004010102010c63757272656e7456616c756506226f6e6c7922000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209f8-686a-7000-8006-09a9cdcae28c	01a209f8-686a-7000-8005-a90b87e86589	2026-11-23 19:53:24.330673+00	271536422	1	ParallelForEach	\N	\N	\N	ParallelForEach	\N	\N	{}	Running	Suspended	0	2026-11-23 19:53:24.330673+00	\N	\\x020400000000000000000001040202010000000000000000030301020001000000020c43757272656e7456616c7565032261220c43757272656e74496e646578013000040301020001000000020c43757272656e7456616c7565032262220c43757272656e74496e646578013100050100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209f8-686a-7000-800a-3e6326c34cc5	01a209f8-686a-7000-8009-85a92a4586d3	2026-11-23 19:53:24.330987+00	271536422	1	Parallel	\N	\N	\N	Parallel	\N	\N	{}	Running	Suspended	0	2026-11-23 19:53:24.330987+00	\N	\\x0204000000000000000000010402020100000000000000010403030102000100000000000404010200010000000000050100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209f8-686b-7000-8001-f20c525fc547	01a209f8-686b-7000-8000-1bf65a4f63a5	2026-11-23 19:53:24.331293+00	271536422	1	Fork	\N	\N	\N	Fork	\N	\N	{}	Running	Suspended	0	2026-11-23 19:53:24.331293+00	\N	\\x0204000000000000000000010402020100000000000000010203030102000100000000000404010200010000000000050100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209f8-686c-7000-8000-954ec7e88047	01a209f8-686b-7000-8004-af441b1c7a81	2026-11-23 19:53:24.332008+00	271536422	1	Flowchart	\N	\N	\N	Flowchart	\N	\N	{}	Running	Suspended	0	2026-11-23 19:53:24.332008+00	\N	\\x020400000000000000000001040202010000000000000004000101020303040401020001000000000005050102000100000000000601010501067461736b4964110101a209f8686c7000800269087686fa40000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209f8-686c-7000-8004-526464304683	01a209f8-686c-7000-8003-82b117b193a2	2026-11-23 19:53:24.332844+00	271536422	1	FlowchartTokens	\N	\N	\N	FlowchartTokens	\N	\N	{}	Running	Suspended	0	2026-11-23 19:53:24.332844+00	\N	\\x020300000000000000000001040202010000000000000006000000010001000303010200010000000000040100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209f8-686d-7000-8000-e069f36196b2	01a209f8-686c-7000-8006-4c6b205b0df3	2026-11-23 19:53:24.333304+00	271536422	1	StateMachine	\N	\N	\N	StateMachine	\N	\N	{}	Running	Suspended	0	2026-11-23 19:53:24.333304+00	\N	\\x020300000000000000000001040202010000000000000001000303010200010001000000040101020105737461746506224f70656e22000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209f8-686f-7000-8000-577b5cf08202	01a209f8-686e-7000-8000-765ca8821f9d	2026-11-23 19:53:24.335006+00	271536422	1	Faulted	\N	\N	\N	Faulted	\N	\N	{}	Finished	Faulted	1	2026-11-23 19:53:24.335006+00	\N	\\x020200000000000100000001040202010001000100000000030100000000	{"Items": ["a", "b"], "Answer": null}	\N
01a209f8-6874-7000-8000-509548d884f7	01a209f8-6873-7000-8000-bc7c92336e98	2026-11-23 19:53:24.340124+00	271536422	1	single	\N	\N	\N	Singleton	\N	singleton:single	{}	Running	Suspended	0	2026-11-23 19:53:24.340124+00	\N	\\x020200000000000000000001020101010000010000000000020100000000	{}	\N
01a209f8-687c-7000-8000-dee6e4e59a56	01a209f8-687b-7000-8000-84bd7b6bb885	2026-11-23 19:53:24.348398+00	271536421	1	clerk's	\N	\N	\N	Clerk	\N	\N	{}	Running	Suspended	0	2026-11-23 19:53:24.348398+00	\N	\\x020200000000000000000001020101010000010000000000020100000000	{}	\N
01a209f8-687d-7000-8001-32493d26d840	01a209f8-687d-7000-8000-6ca4952b20c0	2026-11-23 19:53:24.349961+00	271536422	1	past	\N	\N	\N	past	done	\N	{}	Finished	Finished	0	2026-11-23 19:53:24.350888+00	2026-11-23 19:53:24.350888+00	\\x0200030200000000	{}	\N
\.


--
-- Data for Name: owners; Type: TABLE DATA; Schema: workflow; Owner: postgres
--

COPY workflow.owners (id, role, same_as) FROM stdin;
271536421	7711457457994930020:16767:clerk	\N
271536422	7711457457994930020:10:postgres	\N
\.


--
-- Data for Name: paths; Type: TABLE DATA; Schema: workflow; Owner: postgres
--

COPY workflow.paths (segment, owner) FROM stdin;
sign	271536422
site	271536422
\.


--
-- Data for Name: tasks; Type: TABLE DATA; Schema: workflow; Owner: postgres
--

COPY workflow.tasks (id, instance_id, created_at, activity_id, name, correlation_id, payload, status, completed_at, result) FROM stdin;
01a209f8-685c-7000-8002-07f8b5963c99	01a209f8-685c-7000-8001-8bc7ea404873	2026-11-23 19:53:24.316623+00	RunTask1	Sign	RunTask	{"of": "Ada"}	Open	\N	\N
01a209f8-6863-7000-8006-d8d34e0d754b	01a209f8-6863-7000-8004-7d2e7ae6d8ad	2026-11-23 19:53:24.323488+00	ask	Child	\N	\N	Open	\N	\N
01a209f8-686c-7000-8002-69087686fa40	01a209f8-686c-7000-8000-954ec7e88047	2026-11-23 19:53:24.332008+00	b	Sign	Flowchart	\N	Open	\N	\N
01a209f8-687d-7000-8002-f45164c507b5	01a209f8-687d-7000-8001-32493d26d840	2026-11-23 19:53:24.349961+00	RunTask1	Past	past	\N	Completed	2026-11-23 19:53:24.350888+00	"yes"
\.


--
-- Data for Name: triggers; Type: TABLE DATA; Schema: workflow; Owner: postgres
--

COPY workflow.triggers (id, definition_id, definition_version_id, version, activity_id, node_id, activity_type, name, hash, hash_key, payload, created_at, next_fire_at, scheduled_at, schedule, active, schedule_name, owner, input, correlation_id, last_fire_at, last_instance_id, queued, skipped, missed, attempts, last_error) FROM stdin;
01a209f8-6871-7000-8001-9427c967bcc5	alarm	01a209f8-6871-7000-8000-416a2855db16	1	Event1	Workflow1:Sequence1:Event1	Elsa.Event	Elsa.Event	\\x8d74d33b50af026889633d9380975fbafa0e4f0e5d644860b3436c21b341f814	-8253739965353098648	{"EventName": "Alarm"}	2026-11-23 19:53:24.337115+00	\N	\N	\N	t	\N	\N	\N	\N	\N	\N	0	0	0	0	\N
01a209f8-6872-7000-8001-28d4b7055d32	site	01a209f8-6872-7000-8000-06ac3d010cc5	1	HttpEndpoint1	Workflow1:Sequence1:HttpEndpoint1	Elsa.HttpEndpoint	Elsa.HttpEndpoint	\\x7de9e9c6d0e2183583181a16809fe169982ca90e479abf85edf0e24d065f26e3	9073039964431849525	{"Path": "/site/{page}", "Route": "site/LP|site|site/{page}|get", "Method": "get"}	2026-11-23 19:53:24.338496+00	\N	\N	\N	t	\N	\N	\N	\N	\N	\N	0	0	0	0	\N
0183dd35-5876-7000-8000-2b78d493d717	Workflow.ScheduledCommand	0183dd35-5876-7000-8001-8694bf221bec	1			Workflow.Schedule	Workflow.Schedule	\\xd6152f8543d6bb81a3af5de95ea30a66e13e892ead82cfabdcffe6dacd152995	-3020455725666747519	\N	2022-10-15 19:53:24.342826+00	2025-07-11 19:53:24.342826+00	2025-07-11 19:53:24.342826+00	{"text": "every 1000 days", "when": {"every": {"start": "2022-10-15T19:53:24.342826Z", "interval": "1000 days"}}, "misfire": "once", "overlap": "allow", "timeZone": "UTC", "misfireCap": 100}	t	seldom	271536422	{"retry": false, "topLevel": false, "statement": "INSERT INTO public.notes VALUES ('seldom')"}	\N	\N	\N	0	0	0	0	\N
0183dd35-5876-7000-8002-39cee93e8db2	report	01a209f8-6876-7000-8000-0ca4d26fb296	1			Workflow.Schedule	Workflow.Schedule	\\xd27eee8263e9a7a39aafe8f82a11eb0118740af7b8037ffbb657e9a4e315f86a	-3278921234889726045	\N	2022-10-15 19:53:24.342826+00	2025-07-11 19:53:24.342826+00	2025-07-11 19:53:24.342826+00	{"text": "every 1000 days", "when": {"every": {"start": "2022-10-15T19:53:24.342826Z", "interval": "1000 days"}}, "misfire": "once", "overlap": "allow", "timeZone": "UTC", "misfireCap": 100}	t	report	271536422	{}	\N	\N	\N	0	0	0	0	\N
\.


--
-- Name: owners_id_seq; Type: SEQUENCE SET; Schema: workflow; Owner: postgres
--

SELECT pg_catalog.setval('workflow.owners_id_seq', 271536422, true);


--
-- Name: FUNCTION _adopt_database(dry_run boolean, overdue text, owners jsonb); Type: ACL; Schema: workflow; Owner: postgres
--

GRANT ALL ON FUNCTION workflow._adopt_database(dry_run boolean, overdue text, owners jsonb) TO clerk;


--
-- Name: FUNCTION wf_alter_schedule(name text, schedule text, command text, active boolean, timezone text, misfire text, misfire_cap integer, overlap text, jitter interval, input jsonb, top_level boolean, retry boolean); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_alter_schedule(name text, schedule text, command text, active boolean, timezone text, misfire text, misfire_cap integer, overlap text, jitter interval, input jsonb, top_level boolean, retry boolean) TO clerk;


--
-- Name: FUNCTION wf_cancel(instance_id uuid, reason text, force boolean); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_cancel(instance_id uuid, reason text, force boolean) TO clerk;


--
-- Name: FUNCTION wf_complete_task(task_id uuid, result jsonb, on_fault text, token uuid); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_complete_task(task_id uuid, result jsonb, on_fault text, token uuid) TO clerk;


--
-- Name: FUNCTION wf_define(definition jsonb, publish boolean, allow_unknown boolean, OUT definition_id text, OUT version integer); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_define(definition jsonb, publish boolean, allow_unknown boolean, OUT definition_id text, OUT version integer) TO clerk;


--
-- Name: FUNCTION wf_delete_definition(definition_id text, version integer); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_delete_definition(definition_id text, version integer) TO clerk;


--
-- Name: FUNCTION wf_delete_instance(instance_id uuid, force boolean); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_delete_instance(instance_id uuid, force boolean) TO clerk;


--
-- Name: FUNCTION wf_diagram(definition_id text, version integer); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_diagram(definition_id text, version integer) TO clerk;


--
-- Name: FUNCTION wf_enqueue_bookmark(name text, stimulus jsonb, instance_id uuid, correlation_id text, activity_instance_id uuid, bookmark_id uuid, activity_type text, activity_id text, hash bytea, input jsonb, keep_for interval); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_enqueue_bookmark(name text, stimulus jsonb, instance_id uuid, correlation_id text, activity_instance_id uuid, bookmark_id uuid, activity_type text, activity_id text, hash bytea, input jsonb, keep_for interval) TO clerk;


--
-- Name: FUNCTION _explain(instance uuid); Type: ACL; Schema: workflow; Owner: postgres
--

GRANT ALL ON FUNCTION workflow._explain(instance uuid) TO clerk;


--
-- Name: FUNCTION wf_explain(instance uuid); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_explain(instance uuid) TO clerk;


--
-- Name: FUNCTION wf_export(definition_id text, version integer); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_export(definition_id text, version integer) TO clerk;


--
-- Name: FUNCTION _grant(definition_id text, role text, privileges text[]); Type: ACL; Schema: workflow; Owner: postgres
--

GRANT ALL ON FUNCTION workflow._grant(definition_id text, role text, privileges text[]) TO clerk;


--
-- Name: FUNCTION wf_grant(definition_id text, role name, privileges text[]); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_grant(definition_id text, role name, privileges text[]) TO clerk;


--
-- Name: FUNCTION _grant_events(listener text, publisher text); Type: ACL; Schema: workflow; Owner: postgres
--

GRANT ALL ON FUNCTION workflow._grant_events(listener text, publisher text) TO clerk;


--
-- Name: FUNCTION wf_grant_events(listener name, publisher name); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_grant_events(listener name, publisher name) TO clerk;


--
-- Name: FUNCTION wf_http_request(method text, path text, headers jsonb, query jsonb, body bytea); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_http_request(method text, path text, headers jsonb, query jsonb, body bytea) TO clerk;


--
-- Name: FUNCTION wf_publish(definition_id text, version integer); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_publish(definition_id text, version integer) TO clerk;


--
-- Name: FUNCTION wf_publish_event(name text, payload jsonb, correlation_id text, instance_id uuid, keep_for interval); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_publish_event(name text, payload jsonb, correlation_id text, instance_id uuid, keep_for interval) TO clerk;


--
-- Name: FUNCTION wf_refresh(definition_id text, OUT added integer, OUT removed integer, OUT unchanged integer); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_refresh(definition_id text, OUT added integer, OUT removed integer, OUT unchanged integer) TO clerk;


--
-- Name: FUNCTION wf_register_activity(type text, handler regprocedure, kind text, payloads regprocedure, inputs jsonb, outputs jsonb, outcomes text[], description text); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_register_activity(type text, handler regprocedure, kind text, payloads regprocedure, inputs jsonb, outputs jsonb, outcomes text[], description text) TO clerk;


--
-- Name: FUNCTION wf_replay(dead_letter_id uuid); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_replay(dead_letter_id uuid) TO clerk;


--
-- Name: FUNCTION wf_resume(bookmark_id uuid, input jsonb, missing_ok boolean, on_fault text); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_resume(bookmark_id uuid, input jsonb, missing_ok boolean, on_fault text) TO clerk;


--
-- Name: FUNCTION wf_retract(definition_id text); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_retract(definition_id text) TO clerk;


--
-- Name: FUNCTION wf_retry(instance_id uuid, activity_ids text[], on_fault text); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_retry(instance_id uuid, activity_ids text[], on_fault text) TO clerk;


--
-- Name: FUNCTION _revoke(definition_id text, role text, privileges text[]); Type: ACL; Schema: workflow; Owner: postgres
--

GRANT ALL ON FUNCTION workflow._revoke(definition_id text, role text, privileges text[]) TO clerk;


--
-- Name: FUNCTION wf_revoke(definition_id text, role name, privileges text[]); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_revoke(definition_id text, role name, privileges text[]) TO clerk;


--
-- Name: FUNCTION _revoke_events(listener text, publisher text); Type: ACL; Schema: workflow; Owner: postgres
--

GRANT ALL ON FUNCTION workflow._revoke_events(listener text, publisher text) TO clerk;


--
-- Name: FUNCTION wf_revoke_events(listener name, publisher name); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_revoke_events(listener name, publisher name) TO clerk;


--
-- Name: FUNCTION wf_run(definition text, input jsonb, correlation_id text, name text, instance_id uuid, version integer, trigger_activity_id text, on_fault text); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_run(definition text, input jsonb, correlation_id text, name text, instance_id uuid, version integer, trigger_activity_id text, on_fault text) TO clerk;


--
-- Name: FUNCTION wf_run_due(max integer); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_run_due(max integer) TO clerk;


--
-- Name: FUNCTION wf_schedule(name text, schedule text, command text, timezone text, misfire text, misfire_cap integer, overlap text, jitter interval, active boolean, top_level boolean, retry boolean); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_schedule(name text, schedule text, command text, timezone text, misfire text, misfire_cap integer, overlap text, jitter interval, active boolean, top_level boolean, retry boolean) TO clerk;


--
-- Name: FUNCTION wf_schedule_run_now(name text); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_schedule_run_now(name text) TO clerk;


--
-- Name: FUNCTION wf_schedule_workflow(name text, schedule text, definition text, input jsonb, correlation_id text, timezone text, misfire text, misfire_cap integer, overlap text, jitter interval, active boolean); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_schedule_workflow(name text, schedule text, definition text, input jsonb, correlation_id text, timezone text, misfire text, misfire_cap integer, overlap text, jitter interval, active boolean) TO clerk;


--
-- Name: FUNCTION wf_send_stimulus(name text, stimulus jsonb, input jsonb, correlation_id text, instance_id uuid, keep_for interval); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_send_stimulus(name text, stimulus jsonb, input jsonb, correlation_id text, instance_id uuid, keep_for interval) TO clerk;


--
-- Name: FUNCTION wf_set_owner(kind text, id text, role name); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_set_owner(kind text, id text, role name) TO clerk;


--
-- Name: FUNCTION wf_start(definition text, input jsonb, correlation_id text, name text, instance_id uuid, version integer, trigger_activity_id text, on_fault text); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_start(definition text, input jsonb, correlation_id text, name text, instance_id uuid, version integer, trigger_activity_id text, on_fault text) TO clerk;


--
-- Name: FUNCTION wf_svg(instance uuid); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_svg(instance uuid) TO clerk;


--
-- Name: FUNCTION wf_svg(definition_id text, version integer); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_svg(definition_id text, version integer) TO clerk;


--
-- Name: FUNCTION wf_unschedule(name text); Type: ACL; Schema: public; Owner: postgres
--

GRANT ALL ON FUNCTION public.wf_unschedule(name text) TO clerk;


--
-- Name: TABLE notes; Type: ACL; Schema: public; Owner: postgres
--

GRANT SELECT,INSERT ON TABLE public.notes TO clerk;


--
-- PostgreSQL database dump complete
--


